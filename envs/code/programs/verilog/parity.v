// Right module of the kind `parity`.
`define INVERT ~
`define TERMS a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7] + a[8] + a[9]

module top_module (
  input [9:0] a,
  output [0:0] p,
  output [3:0] n
);
// The logic:
  assign p = `INVERT(^a);
  assign n = `TERMS;
endmodule
