// fbs_fields.h - fields of FlatBuffers tables, and those that our schema does not list (C++).
#ifndef HEDDLE_COMPILER_IMPORT_COMMON_FBS_FIELDS_H
#define HEDDLE_COMPILER_IMPORT_COMMON_FBS_FIELDS_H

#define FLATBUFFERS_LOCALE_INDEPENDENT 0 // otherwise a library must define it
#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/flexbuffers.h>

#include "base/arena.h"

static_assert(FLATBUFFERS_LITTLEENDIAN, "vectors are used in place");

// Depth: real models nest 6 tables. Tables: an operator has about eight.
static constexpr flatbuffers::uoffset_t kMaxDepth = 32;
static constexpr flatbuffers::uoffset_t kMaxTables = 4000000; // 40 for each of 100,000 operators

template <typename T> static inline T *alloc(arena *a, size_t n)
{
    return static_cast<T *>(arena_array(a, n, sizeof(T)));
}

static inline const char *text(const flatbuffers::String *s)
{
    return s != nullptr ? s->c_str() : "";
}

template <typename T> static inline uint32_t count(const flatbuffers::Vector<T> *v)
{
    return v != nullptr ? v->size() : 0;
}

// Return the number of fields that the schema lists for member `kind` of a union.
static inline uint32_t fbs_known_fields(const flatbuffers::TypeTable *kinds, int64_t kind)
{
    for (size_t i = 0; i < kinds->num_elems; i++)
        if ((kinds->values ? kinds->values[i] : static_cast<int64_t>(i)) == kind &&
            kinds->type_codes[i].sequence_ref >= 0)
            return static_cast<uint32_t>(
                kinds->type_refs[kinds->type_codes[i].sequence_ref]()->num_elems);
    return 0;
}

// Return the number of the first of the table's fields from `known` on that is not all zeros; 0 if
// none. The verifier does not check fields that the schema lacks. The bytes of a field end at the
// next field, the table's end or the file's end.
static inline uint32_t fbs_unknown_field(const void *options, uint32_t known, const uint8_t *end)
{
    const auto *const table = static_cast<const uint8_t *>(options);
    const uint8_t *const vtable = table - flatbuffers::ReadScalar<flatbuffers::soffset_t>(table);
    const auto entry = [vtable](uint32_t i) {
        return flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable + 2 * i);
    };
    const uint32_t n = entry(0) / 2; // sizes of vtable and table, then offsets

    for (uint32_t i = 2 + known; i < n; i++) {
        uint32_t to = entry(1);

        for (uint32_t k = 2; k < n; k++)
            if (entry(k) > entry(i) && entry(k) < to)
                to = entry(k);
        for (uint32_t at = entry(i); at != 0 && at < to && at < end - table; at++)
            if (table[at] != 0)
                return i - 2;
    }
    return 0;
}

#endif
