// A beat is taken only of a burst that was handed out: what proof `addr` assumes. u_addr's outputs
// are free except for the properties of that proof; the bus answers requests in order.
(* hierconn *) wire [4:0] \u_beats.count_q ;
localparam int FBursts = 2;  // handed out without their last beat, at most
logic                 f_hand, f_end, f_pop, f_come, f_come_last;
logic [2:0]           f_out_q, f_whole_q;  // bursts without their last beat taken; of these, those that have come whole
logic [7:0]           f_beats_q, f_part_q;  // beats taken of the oldest one, beats come of the first one not whole
logic [FBursts*8-1:0] f_len_q;
logic [7:0]           f_due, f_held;

assign f_hand      = req_valid_o && req_ready_i;
assign f_end       = burst_end;
assign f_pop       = beat_take && f_end;
assign f_come      = r_valid_i && r_ready_o;
assign f_due       = f_whole_q == 0 ? f_len_q[7:0] : f_len_q[15:8];
assign f_come_last = f_come && f_part_q == f_due;

always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    {f_out_q, f_whole_q, f_beats_q, f_part_q} <= '0;
  end else begin
    f_out_q   <= f_out_q + f_hand - f_pop;
    f_whole_q <= f_whole_q + f_come_last - f_pop;
    if (beat_take) f_beats_q <= f_end ? 8'd0 : f_beats_q + 8'd1;
    if (f_come) f_part_q <= f_come_last ? 8'd0 : f_part_q + 8'd1;
  end
  if (f_pop) f_len_q <= f_len_q >> 8;
  for (int i = 0; i < FBursts; i++) begin
    if (f_hand && f_out_q - f_pop == i) f_len_q[i*8 +: 8] <= req_len_o;
  end
end

assign f_held = (f_whole_q > 0 ? f_len_q[7:0] + 1'b1 : 8'd0) + (f_whole_q > 1 ? f_len_q[15:8] + 1'b1 : 8'd0)
                + f_part_q - f_beats_q;

always_comb begin
  m_come: assume (!f_come || f_whole_q < f_out_q);
  m_last: assume (!f_come || r_last_i == f_come_last);
  m_out: assume (!f_hand || f_out_q < FBursts);
  m_len: assume (req_len_o <= 15);                              // proof `bursts`: a_line
  m_end: assume (!beat_take || f_end == (f_beats_q == f_len_q[7:0]));  // proof `addr`: a_end
  if (rst_ni) begin
    a_owed: assert (!beat_take || f_out_q != '0);
    // The induction needs these.
    a_held: assert (\u_beats.count_q == f_held && f_out_q <= FBursts && f_whole_q <= f_out_q);
    a_oldest: assert (f_out_q != '0 ? f_beats_q <= f_len_q[7:0] && (f_whole_q != '0 || f_beats_q <= f_part_q)
                      : f_beats_q == '0);
    a_part: assert (f_whole_q < f_out_q ? f_part_q <= f_due : f_part_q == '0);
    a_lens: assert ((f_out_q == '0 || f_len_q[7:0] <= 15) && (f_out_q < 2 || f_len_q[15:8] <= 15));
  end
end
