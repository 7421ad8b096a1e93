// Right module of the kind `alu`.
`define HIGH 9
`define ROWS       0: y = (a < b);\
      1: y = a ^ b;\
      2: y = $signed(a) >>> 1;\
      3: y = a + b;\
      4: y = a - b;\
      5: y = a & b;

module top_module (
  input [2:0] op,
  input [9:0] a,
  input [9:0] b,
  output reg [9:0] y,
  output [0:0] zero,
  output [0:0] negative
);
// The logic:
  assign zero = y == 0;
  assign negative = y[`HIGH];
  always @* begin
    case (op)
`ROWS
      default: y = 0;
    endcase
  end
endmodule
