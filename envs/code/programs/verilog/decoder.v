// Right module of the kind `decoder`.
`define INVERT ~
`define WIDTH 8

module top_module (
  input [2:0] a,
  input [0:0] en,
  output [7:0] y
);
// The logic:
  assign y = `INVERT(en ? (`WIDTH'd1 << a) : `WIDTH'd0);
endmodule
