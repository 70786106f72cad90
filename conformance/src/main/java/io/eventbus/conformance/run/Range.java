package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;

/** Sequence numbers in a script: {@code 1..3}, or a single one. */
record Range(long first, long last) {
  static Range of(JsonNode text) {
    String[] ends = text.asText().split("\\.\\.", 2);
    return new Range(Long.parseLong(ends[0]), Long.parseLong(ends[ends.length - 1]));
  }
}
