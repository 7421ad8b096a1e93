// Right module of the kind `machine`.
`define START 1
`define MOVES        0: s <= x ? 2 : 2;\
        1: s <= x ? 0 : 4;\
        2: s <= x ? 3 : 0;\
        3: s <= x ? 4 : 4;\
        4: s <= x ? 1 : 1;
`define SHOWS       0: y = 5;\
      1: y = 4;\
      2: y = 0;\
      3: y = 0;\
      4: y = 6;

module top_module (
  input clk,
  input [0:0] rst,
  input [0:0] x,
  output reg [2:0] y
);
// The logic:
  reg [2:0] s;
  always @(posedge clk) begin
    if (rst) s <= `START;
    else
      case (s)
`MOVES
        default: s <= `START;
      endcase
  end
  always @* begin
    case (s)
`SHOWS
      default: y = 0;
    endcase
  end
endmodule
