// Bytes come out as they went in: one byte of the stream, chosen by the solver, is followed.
logic       pick, followed_q;
logic [7:0] byte_q, got, went_in;
logic [FillBits-1:0] ahead_q, after_out;   // ahead_q: bytes before it
logic [InBits:0]     lane, from;           // of in_data_i

assign pick      = $anyseq;
assign lane      = $anyseq;
assign from      = lane - in_lo_i;
assign went_in   = in_data_i >> {lane, 3'b000};
assign got       = out_data_o >> {ahead_q + FillBits'(out_lo_i), 3'b000};
assign after_out = pop ? fill_q - out_bytes_i : fill_q;

always_ff @(posedge clk_i) begin
  if (!rst_ni) followed_q <= 1'b0;
  else if (!followed_q && pick && push) begin
    followed_q <= lane >= in_lo_i && from < in_bytes_i;
    byte_q     <= went_in;
    ahead_q    <= after_out + FillBits'(from);
  end else if (followed_q && pop) begin
    if (ahead_q < FillBits'(out_bytes_i)) followed_q <= 1'b0;
    else ahead_q <= ahead_q - FillBits'(out_bytes_i);
  end
end

logic [RingBits-1:0]   held, place;
logic [7:0]            here;
logic [OutBytes*8-1:0] outside;
assign held    = in_q - out_q;
assign place   = out_q + RingBits'(ahead_q);
assign here    = ring_q >> {place, 3'b000};
assign outside = (out_data_o & ~({(OutBytes*8){1'b1}} << {out_lo_i, 3'b000}))
                 | (out_data_o & ({(OutBytes*8){1'b1}} << {out_bytes_i, 3'b000} << {out_lo_i, 3'b000}));

always_comb begin
  m_in: assume (in_lo_i < InBytes && in_bytes_i != '0 && in_bytes_i <= InBytes - in_lo_i);
  m_out: assume (out_lo_i < OutBytes && out_bytes_i != '0 && out_bytes_i <= OutBytes - out_lo_i);
  if (rst_ni) begin
    a_fill: assert (fill_q <= Hold && room_q == (fill_q <= Hold - InBytes));
    a_inside: assert (!followed_q || ahead_q < fill_q);
    a_order: assert (!followed_q || !out_valid_o || ahead_q >= out_bytes_i || got == byte_q);
    a_zeros: assert (outside == '0);
    a_valid: assert (out_valid_o == (fill_q >= out_bytes_i));
    // Where bytes are; the induction needs it.
    a_here: assert (!followed_q || here == byte_q);
    a_places: assert (held == RingBits'(fill_q));
  end
end
