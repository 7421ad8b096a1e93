"""`code/verilog`: outputs are compared, and nothing that a module says is taken for one."""

import pytest

from verigym import Status, Task, make_verifier

GOOD = "module m(input [1:0] a, input b, output [1:0] y, output z);\n  assign y = a ^ {2{b}};\n  assign z = ~b;\nendmodule\n"
VECTORS = [[a, b] for a in range(4) for b in range(2)]
COUNTER = """
module m(input clk, input rst, output reg [2:0] q);
  always @(posedge clk) if (rst) q <= 0; else q <= q + 1;
endmodule
"""


def task(**changes):
    reference = {
        "module": "m",
        "clock": "",
        "inputs": [["a", 2], ["b", 1]],
        "outputs": [["y", 2], ["z", 1]],
        "vectors": VECTORS,
        "expected": [[a ^ 3 * b, 1 - b] for a, b in VECTORS],
        **changes,
    }
    return Task(id="t", env_id="", seed=0, prompt="p", difficulty="easy", reference=reference)


def judge(source, problem=None):
    return make_verifier("code/verilog").verify(problem or task(), source)


def with_body(body, head="module m(input [1:0] a, input b, output reg [1:0] y, output reg z);\n"):
    return head + body + "\nendmodule\n"


def test_right_and_wrong_modules():
    assert judge(GOOD).score == 1.0
    assert judge(f"```verilog\n{GOOD}```").score == 1.0
    verdict = judge(GOOD.replace("~b", "b"))
    assert (verdict.score, verdict.reason, verdict.parts) == (0.0, "wrong_output", {"passed": 0.0})
    verdict = judge(GOOD.replace("a ^ {2{b}}", "a"))
    assert (verdict.score, verdict.parts) == (0.0, {"passed": 0.5})
    assert judge(GOOD.replace("a ^", "$unsigned(a) ^")).score == 1.0


def test_a_clocked_module():
    problem = task(
        clock="clk",
        inputs=[["rst", 1]],
        outputs=[["q", 3]],
        vectors=[[1], [0], [0], [1], [0]],
        expected=[[0], [1], [2], [0], [1]],
    )
    assert judge(COUNTER, problem).score == 1.0
    assert judge(COUNTER.replace("posedge", "negedge"), problem).score == 0.0
    assert judge(COUNTER.replace("if (rst) q <= 0; else ", ""), problem).score == 0.0  # unknown


REFUSED = {
    "prints": with_body('initial $display("00 1");'),
    "ends": with_body("initial $finish;"),
    "writes a file": with_body("integer f; initial f = $fopen(1);"),
    "reads a file": with_body("reg [7:0] r [0:9]; initial $readmemh(r);"),
    "includes": '`include "x"\n' + GOOD,
    "a directive": "`define m n\n" + GOOD,
    "an escaped name": GOOD.replace("assign y", "wire \\$finish ;\n assign y"),
    "a text": with_body('reg [31:0] r = "abc";'),
    "a comment that a text hides": with_body('reg [31:0] s = "/*"; initial $finish; // "*/"'),
    "a comment that ends at a return": with_body("// hidden\rinitial $finish;"),
    "a control character": GOOD.replace("assign y", "\0assign y"),
    "letters of elsewhere": GOOD.replace("assign y", "wire \u00e9; assign y"),
}


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_what_could_speak_for_itself_is_refused(source):
    verdict = judge(source)
    assert (verdict.score, verdict.reason) == (0.0, "refused_syntax"), verdict


def test_comments_may_say_what_they_like():
    assert judge('// $display `x \\ "\n/* $finish\n*/' + GOOD).score == 1.0


UNPAID = {
    "another module": GOOD.replace("module m", "module n"),
    "another port": GOOD.replace("output z", "output w").replace("assign z", "assign w"),
    "floating": with_body("", "module m(input [1:0] a, input b, output [1:0] y, output z);\n"),
    "the bench again": GOOD + "module verigym_bench; endmodule\n",
    "an open end": GOOD.replace("endmodule", "/* "),
    "the bench within": with_body("verigym_bench inner();"),
    "forced inputs": with_body(
        "initial begin force verigym_bench.a = 0; force verigym_bench.b = 0; y = 0; z = 1; end"
    ),
    "forced outputs": with_body("initial force verigym_bench.y = 1;"),
}


@pytest.mark.parametrize("source", UNPAID.values(), ids=UNPAID)
def test_what_is_not_paid(source):
    verdict = judge(source)
    assert verdict.status in (Status.OK, Status.POLICY_FAULT)
    assert verdict.score == 0.0, verdict


@pytest.mark.slow
def test_a_module_without_end_is_the_policys_fault():
    verdict = judge(with_body("initial while (1) y = ~y;"))
    assert (verdict.status, verdict.reason) == (Status.POLICY_FAULT, "time_limit")


@pytest.mark.parametrize(
    "change",
    [
        {"module": "M; $finish"},
        {"inputs": []},
        {"inputs": [["a", 0], ["b", 1]]},
        {"vectors": []},
        {"vectors": [[9, 0]] * 8},
        {"expected": [[0, 0]]},
        {"outputs": [["y", 2]]},
    ],
)
def test_a_task_that_cannot_be_judged_is_a_fault(change):
    verdict = judge(GOOD, task(**change))
    assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None)
