// A beat that is taken is in its command's region, and is the next one of the oldest burst that was handed out: its
// address, its command, its end. Nothing is left to hand out when no run waits and none is under way.
//   Bursts and beats are two walks over the same runs. f_list_q keeps the steps of the first that the second has not ended,
//   oldest first; then comes the current step of the first one. Each is what follows from the one
//   before it, and the first of a command is as u_runs has it.
localparam int FOut      = 2;         // bursts handed out whose last beat is to come
localparam int FList     = FOut + 2;  // and those in hd_dma_bursts' queue
localparam int FLine     = 16 * AxiBytes;
localparam int FLineBits = $clog2(FLine);
localparam int FWalkBits = BusBits - FLineBits;
localparam int FRun      = AddrBits + 1;  // bits of a run's bytes, of their number: longer ones leave any region
localparam int FRuns     = 4;

// A step: first of its command; runs left, with this one; where its run begins, where it does; bytes of the run from there
// on; of its command base, limit, pitch, bytes of a run, index.
localparam int FBits = 1 + FRuns + 5 * BusBits + 2 * FRun + 1 + 32;

// The walks and the queues.
(* hierconn *) wire                         \u_bursts.u_walk.valid_q ;
(* hierconn *) wire                         \u_bursts.u_walk.taken_q ;
(* hierconn *) wire                         \u_bursts.u_walk.end_q ;
(* hierconn *) wire                         \u_bursts.u_walk.only_q ;
(* hierconn *) wire [BusBits-1:0]           \u_bursts.u_walk.piece_q ;
(* hierconn *) wire [BusBits-1:0]           \u_bursts.u_walk.pitch_q ;
(* hierconn *) wire [FWalkBits-1:0]         \u_bursts.u_walk.line_q ;
(* hierconn *) wire [FLineBits-1:0]         \u_bursts.u_walk.lane_q ;
(* hierconn *) wire [FLineBits:0]           \u_bursts.u_walk.here_q ;
(* hierconn *) wire [31:0]                  \u_bursts.u_walk.bytes_q ;
(* hierconn *) wire [31:0]                  \u_bursts.u_walk.left_q ;
(* hierconn *) wire [15:0]                  \u_bursts.u_walk.count_q ;
(* hierconn *) wire [32+BusBits:0]          \u_bursts.u_walk.tag_q ;
(* hierconn *) wire                         \u_bursts.take ;
(* hierconn *) wire [1:0]                   \u_bursts.u_bursts.count_q ;
(* hierconn *) wire [AddrBits-BeatBits+36:0] \u_bursts.u_bursts.head_q ;
(* hierconn *) wire [AddrBits-BeatBits+36:0] \u_bursts.u_bursts.f_behind ;
(* hierconn *) wire                         \u_beats.taken_q ;
(* hierconn *) wire                         \u_beats.end_q ;
(* hierconn *) wire                         \u_beats.last_o ;
(* hierconn *) wire [BusBits-1:0]           \u_beats.piece_q ;
(* hierconn *) wire [BusBits-1:0]           \u_beats.pitch_q ;
(* hierconn *) wire [BusBits-BeatBits-1:0]  \u_beats.line_q ;
(* hierconn *) wire [BeatBits-1:0]          \u_beats.lane_q ;
(* hierconn *) wire [BeatBits:0]            \u_beats.here_q ;
(* hierconn *) wire [31:0]                  \u_beats.bytes_q ;
(* hierconn *) wire [31:0]                  \u_beats.left_q ;
(* hierconn *) wire [15:0]                  \u_beats.count_q ;
(* hierconn *) wire [1:0]                   \u_runs.count_q ;
(* hierconn *) wire [RunBits-1:0]           \u_runs.head_q ;
(* hierconn *) wire [RunBits-1:0]           \u_runs.f_behind ;

// Steps that beats have not ended; bursts handed out of them, as the bus sees them; beats of the
// oldest one.
logic               f_first_q;
logic [BusBits-1:0] f_base_q, f_limit_q, f_pitch_q;
logic [FRun-1:0]    f_bytes_q;
logic [FBits-1:0]   f_now;
logic [FRun:0]      f_now_rem;
logic               f_step;

assign f_step    = \u_bursts.u_walk.valid_q ;
assign f_now_rem = \u_bursts.u_walk.end_q ? (FRun+1)'(\u_bursts.u_walk.here_q )
                   : \u_bursts.u_walk.left_q [FRun:0] + FLine - \u_bursts.u_walk.lane_q ;
assign f_now     = {f_first_q, \u_bursts.u_walk.count_q [FRuns-1:0], \u_bursts.u_walk.piece_q ,
                    \u_bursts.u_walk.line_q , \u_bursts.u_walk.lane_q , f_now_rem,
                    f_base_q, f_limit_q, f_pitch_q, f_bytes_q, \u_bursts.u_walk.tag_q [32+BusBits:BusBits+1]};

always_ff @(posedge clk_i) begin
  if (accept) begin
    f_first_q <= 1'b1;
    f_base_q  <= {1'b0, region_base_i};
    f_limit_q <= region_limit_i;
    f_pitch_q <= BusBits'(run_pitch_i);
    f_bytes_q <= run_bytes_i[FRun-1:0];
  end else if (\u_bursts.take ) begin
    f_first_q <= 1'b0;
  end
end

// Steps not ended by beats; bursts handed out of them, as the bus has them; beats of the oldest one.
logic                     f_hand, f_beat, f_end, f_pop;
logic [2:0]               f_count_q, f_out_q, f_all_count, f_at;
logic [FList*FBits-1:0]   f_list_q;
logic [FBits*FList+FBits-1:0] f_all;
logic [FOut*AddrBits-1:0] f_addr_q;
logic [FOut*8-1:0]        f_len_q;
logic [FOut*32-1:0]       f_cmd_q;
logic [7:0]               f_beats_q;
logic [FBits-1:0]         f_from;

assign f_hand      = burst_valid_o && burst_ready_i;
assign f_beat      = beat_valid_o && beat_ready_i;
assign f_end       = beat_end_o || &beat_addr_o[BeatBits +: 4];
assign f_pop       = f_beat && f_end;
assign f_all_count = f_count_q + f_step;
assign f_at        = f_count_q - f_pop;

always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    f_count_q <= '0;
    f_out_q   <= '0;
    f_beats_q <= '0;
  end else begin
    f_count_q <= f_count_q + \u_bursts.take - f_pop;
    f_out_q   <= f_out_q + f_hand - f_pop;
    if (f_beat) f_beats_q <= f_end ? 8'd0 : f_beats_q + 8'd1;
  end
  for (int i = 0; i < FList; i++) begin
    if (f_pop && i < FList - 1) f_list_q[i*FBits +: FBits] <= f_list_q[(i+1)*FBits +: FBits];
    if (\u_bursts.take && f_at == i) f_list_q[i*FBits +: FBits] <= f_now;
  end
  for (int i = 0; i < FOut; i++) begin
    if (f_pop && i < FOut - 1) begin
      f_addr_q[i*AddrBits +: AddrBits] <= f_addr_q[(i+1)*AddrBits +: AddrBits];
      f_len_q[i*8 +: 8]                <= f_len_q[(i+1)*8 +: 8];
      f_cmd_q[i*32 +: 32]              <= f_cmd_q[(i+1)*32 +: 32];
    end
    if (f_hand && f_out_q - f_pop == i) begin
      f_addr_q[i*AddrBits +: AddrBits] <= burst_addr_o;
      f_len_q[i*8 +: 8]                <= burst_len_o;
      f_cmd_q[i*32 +: 32]              <= burst_cmd_o;
    end
  end
end

// All steps, the walk's current one after those of the list; the effect of each on the one after it.
logic [FList:0] f_is_first, f_valid, f_follows, f_sound, f_handed, f_queued, f_as_run;
logic [2:0]     f_rank[FList+2];  // commands that begin before it, of those whose beats do not

assign f_rank[0] = '0;
for (genvar i = 0; i <= FList; i++) begin : gen_f
  logic [FBits-1:0]     e;
  logic                 first, ends, last;
  logic [FRuns-1:0]     count;
  logic [BusBits-1:0]   piece, at, base, limit, pitch, after, next_piece;
  logic [FRun:0]        rem;
  logic [FRun-1:0]      bytes;
  logic [31:0]          cmd;
  logic [FLineBits:0]   room;  // bytes of its line
  logic [FBits-1:0]     next;
  logic [7:0]           len;
  logic [RunBits-1:0]   run;
  logic [AddrBits-BeatBits+36:0] queued;

  if (i < FList) begin : gen_listed
    assign e = f_count_q > i ? f_list_q[i*FBits +: FBits] : f_now;
  end else begin : gen_now
    assign e = f_now;
  end
  assign {first, count, piece, at, rem, base, limit, pitch, bytes, cmd} = e;
  assign f_all[i*FBits +: FBits] = e;
  assign f_valid[i]    = f_all_count > i;
  assign f_is_first[i] = first;
  assign room          = FLine - at[FLineBits-1:0];
  assign ends          = rem <= room;
  assign last          = ends && count == 1;
  assign after         = at + (ends ? BusBits'(rem) : BusBits'(room));
  assign len           = 8'((after - 1'b1) >> BeatBits) - 8'(at >> BeatBits);
  assign next_piece    = piece + pitch;
  assign next          = {1'b0, ends ? count - 1'b1 : count, ends ? next_piece : piece,
                          ends ? next_piece : after, ends ? (FRun+1)'(bytes) : (FRun+1)'(rem - room),
                          base, limit, pitch, bytes, cmd};
  if (i < FList) begin : gen_follows
    assign f_follows[i] = !f_valid[i+1] || (last ? f_is_first[i+1] : f_all[(i+1)*FBits +: FBits] == next);
  end else begin : gen_none
    assign f_follows[i] = 1'b1;
  end
  // The last one of the list is the last of its command if the walk is idle.
  assign f_sound[i] = count != '0 && rem != '0 && rem <= bytes && base <= piece && piece <= at
                      && !base[BusBits-1] && !pitch[BusBits-1] && (!limit[BusBits-1] || limit[BusBits-2:0] == '0)
                      && (!first || (at == piece && rem == {1'b0, bytes}))
                      && (f_count_q <= i || (at < after && after <= limit))
                      && (f_count_q != i + 1 || f_step || last);
  if (i < FOut) begin : gen_handed
    assign f_handed[i] = f_out_q <= i || (len == f_len_q[i*8 +: 8] && cmd == f_cmd_q[i*32 +: 32]
                         && AddrBits'(at >> BeatBits << BeatBits) == f_addr_q[i*AddrBits +: AddrBits]);
  end else begin : gen_not_handed
    assign f_handed[i] = 1'b1;
  end
  assign queued      = f_out_q == i ? \u_bursts.u_bursts.head_q : \u_bursts.u_bursts.f_behind ;
  assign f_queued[i] = f_out_q > i || f_count_q <= i
                       || queued == {at[AddrBits-1:BeatBits], len[3:0], last, cmd};
  // Commands whose beats have not begun: their runs, in order. The first run stays a cycle after it was taken.
  assign f_rank[i+1] = f_rank[i] + (f_valid[i] && first && !(i == 0 && beat_valid_o));
  assign run         = f_rank[i] + \u_beats.taken_q == 0 ? \u_runs.head_q : \u_runs.f_behind ;
  assign f_as_run[i] = !f_valid[i] || !first || (i == 0 && beat_valid_o)
                       || {run[RunBits-1:33], run[31:0]} == {piece, 32'(bytes), 16'(count), pitch, cmd};
end

// The beats' walk is in the line of the oldest step, or at the begin of a command.
logic               f_old_first;
logic [FRuns-1:0]   f_old_count;
logic [BusBits-1:0] f_old_piece, f_old_at, f_old_base, f_old_limit, f_old_pitch;
logic [FRun:0]      f_old_rem;
logic [FRun-1:0]    f_old_bytes;
logic [31:0]        f_old_cmd;
logic [FRun:0]      f_beat_rem;
logic [BusBits-1:0] f_place;
assign {f_old_first, f_old_count, f_old_piece, f_old_at, f_old_rem, f_old_base, f_old_limit, f_old_pitch, f_old_bytes,
        f_old_cmd} = f_all[FBits-1:0];
assign f_place    = beat_addr_o | BusBits'(beat_lo_o);
assign f_beat_rem = \u_beats.end_q ? (FRun+1)'(\u_beats.here_q )
                    : \u_beats.left_q [FRun:0] + AxiBytes - beat_lo_o;

logic                 f_real_q;
logic [16+3*32+WordBits+16+32+WordBits+RowTagBits+2+32-1:0] f_stood_q, f_stands;
assign f_stands = {offset_i, runs_i, run_bytes_i, run_pitch_i, word_i, rows_i, row_bytes_i, row_pitch_i, row_tag_i,
                   bad_i, wide_i, index_i};
always_ff @(posedge clk_i) f_stood_q <= f_stands;

always_comb begin
  m_stands: assume (!cmd_valid_i || f_stands == f_stood_q);  // hd_issue
  m_limit: assume (!region_limit_i[AddrBits] || region_limit_i[AddrBits-1:0] == '0);  // hd_regions
  // Addresses have at least the 32 bits of an offset.
  m_bits: assume (offset_i >> AddrBits == '0 && run_pitch_i >> AddrBits == '0);
  m_runs: assume (run_bytes_i >> FRun == '0 && runs_i >> FRuns == '0);
  m_owed: assume (!f_beat || f_out_q != '0);
  m_out: assume (!f_hand || f_out_q < FOut);
  if (rst_ni) begin
    a_inside: assert (!f_beat || (f_place >= f_old_base && {1'b0, f_place} + beat_bytes_o <= f_old_limit));
    a_lanes: assert (!beat_valid_o || (beat_lo_o < AxiBytes && beat_bytes_o != '0 && beat_bytes_o <= AxiBytes - beat_lo_o));
    a_place: assert (!f_beat || beat_addr_o == {1'b0, f_addr_q[AddrBits-1:0]} + BusBits'(f_beats_q) * AxiBytes);
    a_end: assert (!f_beat || f_end == (f_beats_q == f_len_q[7:0]));
    a_command: assert (!f_beat || beat_cmd_o == f_cmd_q[31:0]);
    a_rest: assert (beat_valid_o || runs_valid_o || (!f_step && !burst_valid_o && f_out_q == '0));
    // The induction needs these.
    a_counts: assert (f_count_q == f_out_q + \u_bursts.u_bursts.count_q && f_out_q <= FOut
      && \u_bursts.u_bursts.count_q <= 2);
    a_follows: assert (&f_follows);
    a_sound: assert ((f_sound | ~f_valid) == '1);
    a_handed: assert (&f_handed);
    a_queued: assert (&f_queued);
    a_as_run: assert (&f_as_run && f_rank[FList+1] + \u_beats.taken_q == \u_runs.count_q );
    a_now: assert (!f_step || ((\u_bursts.u_walk.end_q && \u_bursts.u_walk.only_q )
      || ( \u_bursts.u_walk.bytes_q == f_bytes_q && \u_bursts.u_walk.pitch_q == f_pitch_q )));
    a_short: assert (!f_step || ( \u_bursts.u_walk.count_q >> FRuns == '0
      && ( \u_bursts.u_walk.end_q || \u_bursts.u_walk.left_q >> FRun == '0)));
    a_short_beats: assert (!beat_valid_o || ( \u_beats.count_q >> FRuns == '0
      && ( \u_beats.end_q || \u_beats.left_q >> FRun == '0)));
    a_tag: assert (!f_step
      || \u_bursts.u_walk.tag_q [BusBits:0] == {1'b1, {BusBits{1'b0}}} - {1'b0, f_limit_q});
    a_taken: assert ((!\u_bursts.u_walk.taken_q || f_step) && (!\u_beats.taken_q || (beat_valid_o && runs_valid_o)));
    a_begins: assert (beat_valid_o || f_all_count == '0 || f_old_first);
    a_beats: assert (!beat_valid_o || (f_all_count != '0 && f_place >= f_old_at
      && f_place[BusBits-1:FLineBits] == f_old_at[BusBits-1:FLineBits]
      && f_old_rem == f_beat_rem + (f_place - f_old_at)
      && \u_beats.piece_q == f_old_piece && \u_beats.count_q == f_old_count && beat_cmd_o == f_old_cmd
      && beat_addr_o[BusBits-1:BeatBits] == f_old_at[BusBits-1:BeatBits] + f_beats_q
      && (f_beats_q == '0 || beat_lo_o == '0)
      && (f_beats_q != '0 || beat_lo_o == f_old_at[BeatBits-1:0])
      && ( \u_beats.last_o || ( \u_beats.bytes_q == f_old_bytes && \u_beats.pitch_q == f_old_pitch ))));
    a_none: assert (beat_valid_o || f_beats_q == '0);
  end
end
