// Right module of the kind `counter`.
`define LAST 0
`define START 2
`define STEP q == 0 ? 22 : q - 1

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] en,
  output reg [4:0] q,
  output [0:0] last
);
// The logic:
  assign last = q == `LAST;
  always @(posedge clk) begin
    if (rst) q <= `START;
    else if (en) q <= `STEP;
  end
endmodule
