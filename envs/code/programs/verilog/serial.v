// Right module of the kind `serial`.
`define HIGH 4
`define HALF 1
`define DIVIDE 3
`define SIZE 5
`define STOP 7
`define ODD 0
`define WRONG odd
`define SHIFTED {rx, bits[4:1]}

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] rx,
  output reg [4:0] data,
  output reg [0:0] valid,
  output reg [0:0] error
);
// The logic:
  reg [1:0] phase;
  reg [2:0] left;
  reg [3:0] place;
  reg [`HIGH:0] bits;
  reg odd;
  always @(posedge clk) begin
    valid <= 0;
    error <= 0;
    if (rst) begin
      phase <= 0;
      data <= 0;
    end else if (phase == 0) begin
      if (!rx) begin
        phase <= 1;
        left <= `HALF;
        place <= 0;
        odd <= `ODD;
      end
    end else if (phase == 2) begin
      if (rx) phase <= 0;
    end else if (left != 1) begin
      left <= left - 1;
    end else begin
      left <= `DIVIDE;
      place <= place + 1;
      if (place == 0) begin
        if (rx) phase <= 0;
      end else if (place == `STOP) begin
        phase <= rx ? 0 : 2;
        if (rx && !`WRONG) begin
          data <= bits;
          valid <= 1;
        end else error <= 1;
      end else begin
        odd <= odd ^ rx;
        if (place <= `SIZE) bits <= `SHIFTED;
      end
    end
  end
endmodule
