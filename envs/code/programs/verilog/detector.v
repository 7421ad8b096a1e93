// Right module of the kind `detector`.
`define HIGH 4
`define REST 3
`define SIZE 5
`define PATTERN 5'b10000
`define AGAIN

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] en,
  input [0:0] bit_in,
  output reg [0:0] y
);
// The logic:
  reg [`HIGH:0] seen;
  reg [2:0] count;
  wire [`HIGH:0] next = {seen[`REST:0], bit_in};
  wire hit = next == `PATTERN && count >= `HIGH;
  always @(posedge clk) begin
    if (rst) begin
      seen <= 0;
      count <= 0;
      y <= 0;
    end else if (en) begin
      seen <= next;
      if (count < `SIZE) count <= count + 1;
      y <= hit;`AGAIN
    end else y <= 0;
  end
endmodule
