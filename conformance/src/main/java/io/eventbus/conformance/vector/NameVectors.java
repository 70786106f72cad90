package io.eventbus.conformance.vector;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Topics, filters, and their matches. */
final class NameVectors {
  private static final List<String> NAMES =
      List.of(
          "a",
          "a.b",
          "flights.EDDF.landed",
          "A.a",
          "航空.着陸",
          "é.e\u0301",
          "😀",
          "a-b_c/d:e+f#g",
          "1.2.3",
          "a$b",
          "a.$b",
          "$SYS.bus.x",
          "$",
          "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p",
          "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q",
          "x".repeat(255),
          "x".repeat(256),
          "é".repeat(127),
          "é".repeat(128),
          "",
          ".",
          ".a",
          "a.",
          "a..b",
          "a b",
          " a",
          "a\t",
          "a\nb",
          "a\u0000",
          "a\u007F",
          "a\u0085b",
          "a\u00A0b",
          "a\u2003b",
          "a\u2028b",
          "a\u2029b",
          "a\u3000b",
          "a\u200Bb",
          "a\uFEFFb",
          "\uD800",
          "a\uDC00",
          "*",
          ">",
          "a.*",
          "*.b",
          "a.*.c",
          "a.>",
          "*.>",
          ">.a",
          "a.>.b",
          "a*",
          "*a.b",
          "a.b>",
          "**",
          ">>",
          "a.**",
          "$SYS.>",
          "$SYS.bus.*.stats");

  private static final List<String> FILTERS =
      List.of(
          "a.b", "a.*", "a.*.c", "a.>", ">", "*", "*.*", "*.b", "*.>", "$SYS.>", "$SYS.*", "A.b",
          "a.b.c.>", "航空.*", "a.$b", "*.$b");

  private static final List<String> TOPICS =
      List.of(
          "a",
          "a.b",
          "a.b.c",
          "a.c",
          "a.b.c.d",
          "A.b",
          "b",
          "$SYS.x",
          "$SYS.bus.x",
          "航空.着陸",
          "a.$b",
          "ab",
          "a.bc");

  private NameVectors() {}

  static ArrayNode topics() {
    return judged("topic", Topic::problem);
  }

  static ArrayNode filters() {
    return judged("filter", TopicFilter::problem);
  }

  private interface Rule {
    @Nullable String problem(String name);
  }

  private static ArrayNode judged(String member, Rule rule) {
    ArrayNode vectors = VectorJson.array();
    for (String name : NAMES) {
      String problem = rule.problem(name);
      ObjectNode vector = vectors.addObject().put(member, name).put("legal", problem == null);
      if (problem != null) {
        vector.put("reason", problem);
      }
    }
    return vectors;
  }

  static ArrayNode matches() {
    ArrayNode vectors = VectorJson.array();
    for (String filter : FILTERS) {
      for (String topic : TOPICS) {
        vectors
            .addObject()
            .put("filter", filter)
            .put("topic", topic)
            .put("matches", TopicFilter.parse(filter).matches(topic));
      }
    }
    return vectors;
  }
}
