package io.eventbus.conformance.vector;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.eventbus.protocol.CloseReason;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;

/** Computed numbers, and numbers that control decisions. */
final class NumberVectors {
  private static final List<String> SCHEMAS =
      List.of(
          "\"int\"",
          "\"string\"",
          "{\"type\":\"bytes\"}",
          "{\"type\":\"array\",\"items\":\"long\"}",
          "[\"null\",\"string\"]",
          "{\"type\":\"enum\",\"name\":\"Side\",\"namespace\":\"example\",\"symbols\":[\"L\",\"R\"]}",
          "{\"type\":\"fixed\",\"name\":\"example.Mark\",\"size\":16}",
          "{\"type\":\"record\",\"name\":\"Landing\",\"namespace\":\"example\",\"doc\":\"left out\","
              + "\"fields\":[{\"name\":\"flight\",\"type\":\"string\",\"default\":\"\"},"
              + "{\"name\":\"runway\",\"type\":[\"null\",\"string\"],\"default\":null},"
              + "{\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}}]}");

  private static final List<String> RESUMES =
      List.of(
          "q3fJ0yK8Zk1mWc7Hq2vXo5Tt9bLrNd4GsAeUiPwCxYE",
          "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
          "__________________________________________8",
          "-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_8");

  private static final int[] CODES = {
    1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 3000,
    3999, 4000, 4001, 4002, 4003, 4004, 4499, 4500, 4501, 4502, 4503, 4504, 4999
  };

  private NumberVectors() {}

  static ArrayNode fingerprints() {
    ArrayNode vectors = VectorJson.array();
    for (String json : SCHEMAS) {
      Schema schema = new Schema.Parser().parse(json);
      long fingerprint = SchemaNormalization.parsingFingerprint64(schema);
      vectors
          .addObject()
          .put("schema", json)
          .put("canonical", SchemaNormalization.toParsingForm(schema))
          .put("fingerprint", Long.toString(fingerprint))
          .put("hex", String.format("%016x", fingerprint));
    }
    return vectors;
  }

  static ArrayNode producers() {
    ArrayNode vectors = VectorJson.array();
    for (String resume : RESUMES) {
      vectors.addObject().put("resume", resume).put("producer", Long.toString(producer(resume)));
    }
    return vectors;
  }

  /** Returns the producer number by docs/protocol.md; a test compares it with that of the bus. */
  static long producer(String resume) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(resume.getBytes(StandardCharsets.US_ASCII));
      return Math.max(1, ByteBuffer.wrap(hash).getLong() & Long.MAX_VALUE);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  static ArrayNode closeCodes() {
    ArrayNode vectors = VectorJson.array();
    for (int code : CODES) {
      vectors.addObject().put("code", code).put("reconnect", CloseReason.mayReconnect(code));
    }
    return vectors;
  }
}
