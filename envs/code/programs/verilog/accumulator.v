// Right module of the kind `accumulator`.
`define WIDTH 8
`define TOP 125
`define BOTTOM -125

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] en,
  input [5:0] d,
  output reg [7:0] q,
  output [0:0] full
);
// The logic:
  wire signed [`WIDTH:0] total = $signed(q) + $signed(d);
  assign full = $signed(q) == `TOP || $signed(q) == `BOTTOM;
  always @(posedge clk) begin
    if (rst) q <= 0;
    else if (en) begin
      if (total > `TOP) q <= `TOP;
      else if (total < `BOTTOM) q <= `BOTTOM;
      else q <= total;
    end
  end
endmodule
