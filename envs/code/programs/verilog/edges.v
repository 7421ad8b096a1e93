// Right module of the kind `edges`.
`define HIGH 4
`define CHANGED ~a & last

module top_module (
  input clk,
  input [0:0] rst,
  input [4:0] a,
  output reg [4:0] y
);
// The logic:
  reg [`HIGH:0] last;
  always @(posedge clk) begin
    if (rst) begin
      last <= 0;
      y <= 0;
    end else begin
      last <= a;
      y <= `CHANGED;
    end
  end
endmodule
