// Right module of the kind `rotate`.
`define WAY <<
`define BACK >>
`define WIDTH 4'd8

module top_module (
  input [7:0] a,
  input [2:0] n,
  output [7:0] y
);
// The logic:
  assign y = (a `WAY n) | (a `BACK (`WIDTH - n));
endmodule
