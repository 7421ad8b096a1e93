// Right module of the kind `bus`.
`define HIGH 3
`define IDLE 0
`define TICK 1
`define LAST 3
`define SHIFTED {bits[2:0], mosi}

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] cs_n,
  input [0:0] sclk,
  input [0:0] mosi,
  output reg [3:0] word,
  output reg [0:0] valid,
  output reg [2:0] lost
);
// The logic:
  reg earlier;
  reg [2:0] count;
  reg [`HIGH:0] bits;
  wire [`HIGH:0] now = `SHIFTED;
  always @(posedge clk) begin
    earlier <= sclk;
    valid <= 0;
    if (rst) begin
      earlier <= `IDLE;
      count <= 0;
      word <= 0;
      lost <= 0;
    end else if (cs_n) begin
      if (count != 0) lost <= lost + 1;
      count <= 0;
    end else if (sclk == `TICK && earlier != sclk) begin
      bits <= now;
      count <= count + 1;
      if (count == `LAST) begin
        count <= 0;
        word <= now;
        valid <= 1;
      end
    end
  end
endmodule
