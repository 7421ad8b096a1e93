// Right module of the kind `gates`.
`define FORMULA (a & b) & (~c ^ ~d)

module top_module (
  input [0:0] a,
  input [0:0] b,
  input [0:0] c,
  input [0:0] d,
  output [0:0] y
);
// The logic:
  assign y = `FORMULA;
endmodule
