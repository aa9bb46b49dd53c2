/* array_clock.h - what ARRAY does in each cycle, in C: docs/HARDWARE.md's rule for a sequence of
 * commands. in:  each cycle, whether a command is taken, whether conflicts hold the steps, and how
 * far WEIGHT is. out: whether the unit would take one, whether one is done, which counter the cycle
 * belongs to. Invariant: no data; a command is its tiles' steps and where its last vector is
 * issued. */
#ifndef HEDDLE_TESTS_HW_ARRAY_CLOCK_H
#define HEDDLE_TESTS_HW_ARRAY_CLOCK_H

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "driver/hd_walk.h"
#include "hd_accel.h"
#include "hd_timing.h"

constexpr int N = CfgN, Rows = CfgRows, Cols = CfgColumns;

static inline int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/* Commands of WEIGHT completed; of the oldest one, words in weight memory and the word after them.
 */
struct array_weights {
    static constexpr uint32_t size = CfgWeightBytes / N;

    uint16_t count = 0;
    uint32_t arrived = 0, end = 0;

    bool have(uint32_t past) const
    {
        return ((end - past) & (size - 1)) < arrived;
    }
};

/* Steps and weight words of a tile; again: an earlier block used the same words. */
struct array_tile {
    long steps;
    uint32_t words;
    bool again;
};

/* One command. Steps are counted from 0. */
struct array_job {
    using setup_fields = std::array<uint32_t, 5>;
    enum kind { plain, taps, pairs, kinds };                   /* setup[0] */
    static constexpr long to_sum = Rows + HD_TIMING_ARRAY_SUM; /* steps from a position */

    std::vector<array_tile> tiles;
    long steps = 0;         /* of all tiles */
    long last_position = 0; /* the step that issues it */
    long last_vector = 0;
    int flush; /* cycles from the first cycle of the last sum's step to done */
    setup_fields
        setup{}; /* setup of the cells: depthwise, pixel pairs; commands of one kind whose other
                    fields differ must not overlap in the cells */
    bool follow;
    uint16_t wait_weight;
    size_t lead; /* tiles that need not wait for the previous job; 0: no tile waits */

    size_t loaded = 0;  /* tiles */
    uint32_t word_end;  /* after their words */
    long left = 0;      /* remaining steps of the current tile */
    long issued = 0;    /* steps so far */
    long pipe = 0;      /* steps since the last vector's request was granted */
    bool asked = false; /* the last vector's request is made */
    int ahead = 0;      /* earlier requests that must be granted first */
    int flushed = 0;

    explicit array_job(const hd_cmd_array &c)
    {
        for (int t = 0; t < ceil_div((int)c.out_channels, Cols); t++)
            for (uint32_t b = 0; b < c.blocks; b++)
                add_block(c, b);
        last_position = steps - tiles.back().steps + c.last_scan - 1;
        last_vector = last_position;
        if (c.depthwise)
            last_vector -= c.scan - 1 - (c.out_w - 1) * c.stride_x;
        flush = c.acc_hold ? 0 : HD_TIMING_REQUANT - HD_TIMING_REQUANT_AHEAD + (int)c.sum_columns;
        if (c.depthwise)
            setup = {taps, c.pad_left, c.kernel_row_bytes, c.kernel_h, c.ports};
        else if (c.streams == 2)
            setup = {pairs, c.pair_split};
        follow = c.follow;
        wait_weight = c.common.wait_weight;
        lead = c.lead_tiles;
        word_end = c.w_base;
    }

    void add_block(const hd_cmd_array &c, uint32_t b)
    {
        hd_walk walk;
        hd_segment seg;

        hd_walk_start(&walk, c.kernel_h, c.kernel_row_bytes, Rows, c.ports, c.depthwise);
        while (hd_walk_next(&walk, &seg)) {
            uint32_t scan = b + 1 == c.blocks ? c.last_scan : c.block_scan;
            tiles.push_back(
                {std::max({scan, seg.len, (uint32_t)HD_TIMING_ARRAY_TILE}), seg.len, b > 0});
            steps += tiles.back().steps;
        }
    }

    bool running() const
    {
        return issued < steps;
    }
    /* Return true if the current tile is the last one; the second: if this step is a tile's last. */
    bool final() const
    {
        return left > 0 && loaded == tiles.size();
    }
    bool turns() const
    {
        return left == 1;
    }
    bool gap() const
    {
        return running() && left == 0 && loaded > 0;
    }
    /* Return true if the words of the next tile have arrived: one for each row, or all if it has fewer. */
    bool here(const array_weights &w) const
    {
        return (loaded > 0 && loaded < tiles.size() && tiles[loaded].again) ||
               w.count != wait_weight || w.have(word_end + Rows);
    }
    void load()
    {
        const array_tile &t = tiles[loaded++];

        left = t.steps;
        word_end += t.again ? 0 : t.words;
    }
    bool done() const
    {
        return !running() && pipe == to_sum && flushed == flush;
    }
    /* Advance the sequencer by a step; waits: the previous request is not granted yet. */
    void step(bool waits)
    {
        if (issued == last_vector && left > 0) {
            asked = true;
            ahead = waits;
        }
        if (left > 0) {
            issued++;
            left--;
        }
    }
    /* Advance by a cycle; granted: the current request is granted; stepped: the one two cycles ago
     * was, so cells and sums step. */
    void flow(bool granted, bool stepped)
    {
        if (pipe == 0 && asked && granted && ahead > 0)
            ahead--;
        else if (pipe == 0 ? asked && granted : pipe < 3 || stepped)
            pipe = std::min(pipe + 1, to_sum);
    }
};

/* The unit. Queries refer to the cycle that tick() will end. */
class array_clock
{
  public:
    bool ready() const
    {
        const array_job *now = current();
        return waiting_.empty() && (!now || now->final());
    }
    bool done() const
    {
        return begun_.size() > ended_ && begun_[ended_].done();
    }
    /* Return the index of the unit's counter for a cycle without a conflict. */
    int kind() const
    {
        const array_job *now = current();
        bool gap = now && now->gap();
        hd_counter kind = (now && !gap) || begins() || loads()  ? HD_COUNTER_ARRAY_BUSY
                          : (gap && !here(*now)) || may_begin() ? HD_COUNTER_ARRAY_WAIT_WEIGHT
                          : begun_.size() == ended_ && waiting_.empty() ? HD_COUNTER_ARRAY_IDLE
                                                                        : HD_COUNTER_ARRAY_DRAIN;
        return kind % HD_COUNTER_SLOTS;
    }
    /* Return true if the next step is the first of another command. */
    bool begin(bool frozen) const
    {
        return !frozen && begins();
    }
    /* taken: the accepted command, or null; frozen: no step; granted: the current request is
     * granted. */
    void tick(const hd_cmd_array *taken, bool frozen, bool granted, const array_weights &weights)
    {
        bool starts = !frozen && begins(), goes_on = !frozen && loads(), ends = done();
        const array_job *to_load = waiting_.empty() ? current() : &waiting_.front();

        if (taken || starts || goes_on)
            here_ = false;
        else if (to_load)
            here_ = to_load->here(weights);

        for (array_job &j : begun_)
            j.flushed += j.pipe >= j.to_sum - 1 && j.flushed < j.flush;
        for (array_job &j : begun_)
            j.flow(granted, granted_[1]);
        granted_[1] = granted_[0];
        granted_[0] = granted;
        if (!frozen) {
            for (long &s : still_)
                s++;
            if (const array_job *now = current())
                if (now->issued <= now->last_position)
                    still_[now->setup[0]] = 0;
            for (array_job &j : begun_)
                j.step(!granted);
        }
        if (goes_on)
            begun_.back().load();
        if (starts) {
            last_ = waiting_.front().setup;
            waiting_.front().load();
            begun_.push_back(waiting_.front());
            waiting_.pop_front();
        }
        if (ended_)
            begun_.pop_front();
        ended_ = ends;
        if (taken)
            waiting_.emplace_back(*taken);
    }

  private:
    const array_job *current() const
    {
        return !begun_.empty() && begun_.back().running() ? &begun_.back() : nullptr;
    }
    bool here(const array_job &j) const
    {
        return !j.follow || here_;
    }
    /* Return true if its next tile may read what the previous job has not yet written. */
    bool held(const array_job &j) const
    {
        return j.lead > 0 && j.loaded >= j.lead && begun_.size() > 1;
    }
    /* Return true if the current command continues to its next tile. */
    bool loads() const
    {
        const array_job *now = current();
        return now && (now->gap() || (now->turns() && !now->final())) && here(*now) && !held(*now);
    }
    /* Return true if a command may begin in the last step of the previous one, if that is alone in
     * the pipe. One that places taps or splits columns differently from the last of its kind waits
     * until that has left the cells. */
    bool may_begin() const
    {
        if (waiting_.empty() || begun_.size() == HD_TIMING_ARRAY_SLOTS)
            return false;
        const array_job::setup_fields &setup = waiting_.front().setup;
        return setup == last_ || setup[0] == array_job::plain || still_[setup[0]] >= settled;
    }
    bool begins() const
    {
        const array_job *now = current();
        return may_begin() && here(waiting_.front()) && (!now || (now->final() && now->turns()));
    }

    static constexpr long settled = Rows + HD_TIMING_ARRAY_SETTLE;

    std::deque<array_job> waiting_, begun_; /* at most one waits */
    size_t ended_ = 0;               /* number of begun_ in the previous cycle, whose slots are
                                      * still occupied */
    array_job::setup_fields last_{}; /* setup of the command that began last */
    /* Steps since the last position of a kind. */
    std::array<long, array_job::kinds> still_{settled, settled, settled};
    bool granted_[2] = {true, true}; /* one and two cycles ago */
    bool here_ = false; /* the weights of the next tile have arrived, for weight streaming */
};

#endif
