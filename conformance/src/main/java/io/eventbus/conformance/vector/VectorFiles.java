package io.eventbus.conformance.vector;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.LinkedHashMap;
import java.util.Map;

/** Generator of the files of vectors. */
public final class VectorFiles {
  private VectorFiles() {}

  /** Generates the vectors. */
  public static Map<String, String> make() {
    Map<String, String> files = new LinkedHashMap<>();
    vectors().forEach((name, vectors) -> files.put(name, VectorJson.text(vectors)));
    return files;
  }

  static Map<String, ArrayNode> vectors() {
    Map<String, ArrayNode> vectors = new LinkedHashMap<>();
    vectors.put("frames.json", FrameVectors.make());
    vectors.put("refused.json", RefusedVectors.make());
    vectors.put("topics.json", NameVectors.topics());
    vectors.put("filters.json", NameVectors.filters());
    vectors.put("matches.json", NameVectors.matches());
    vectors.put("fingerprints.json", NumberVectors.fingerprints());
    vectors.put("producers.json", NumberVectors.producers());
    vectors.put("close-codes.json", NumberVectors.closeCodes());
    return vectors;
  }
}
