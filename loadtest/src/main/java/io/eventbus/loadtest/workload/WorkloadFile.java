package io.eventbus.loadtest.workload;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads one YAML file, which holds a workload or a family of them.
 *
 * <p>A family gives the common keys and, under {@code variants}, a list of further keys, each with
 * a {@code name} of its own; the variant is then called {@code <family>/<variant>}. With a further
 * list of keys under {@code sizes} there is {@code <family>/<variant>-<size>} for each pair. An
 * unknown key, a key given twice and a value of the wrong kind are refused.
 */
final class WorkloadFile {
  private static final ObjectMapper YAML =
      YAMLMapper.builder()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
          .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
          .build();

  private WorkloadFile() {}

  /** The keys of a file, as they are written; what is absent takes the default in {@link #of}. */
  private record Keys(
      @Nullable String name,
      @Nullable String description,
      @Nullable Integer publishers,
      @Nullable Integer subscribers,
      @Nullable Integer topics,
      @Nullable Integer payloadBytes,
      @Nullable Long rate,
      @Nullable Long messages,
      @Nullable Integer window,
      @Nullable String warmUp,
      @Nullable String duration,
      @Nullable Integer runs,
      @Nullable Integer latencyEvery,
      @Nullable List<String> filters,
      @Nullable SlowKeys slow,
      @Nullable Integer idle,
      @Nullable List<String> mayLose,
      @Nullable ClusterKeys cluster,
      @Nullable Boolean takeTurns,
      @Nullable String login,
      @Nullable Integer calls,
      @Nullable RegisterKeys registers,
      @Nullable DurableKeys durable) {}

  private record DurableKeys(
      @Nullable String operation,
      @Nullable Integer inFlight,
      @Nullable Long events,
      @Nullable String data) {}

  private record RegisterKeys(
      @Nullable Integer servers,
      @Nullable Integer clients,
      @Nullable Integer inFlight,
      @Nullable String operation,
      @Nullable List<String> kills,
      @Nullable String placement,
      @Nullable Integer changes,
      @Nullable String recovery,
      @Nullable String data) {}

  private record ClusterKeys(
      @Nullable Integer servers,
      @Nullable Integer fanout,
      @Nullable List<Integer> publishers,
      @Nullable List<Integer> subscribers) {}

  private record SlowKeys(
      @Nullable Integer subscribers, @Nullable String perEvent, @Nullable Boolean mayLose) {}

  static List<Workload> parse(String origin, String yaml) {
    try {
      if (!(YAML.readTree(yaml) instanceof ObjectNode family)) {
        throw new WorkloadException(origin + ": no keys in it (expected: name, publishers, …)");
      }
      @Nullable JsonNode sizes = family.remove("sizes");
      @Nullable JsonNode variants = family.remove("variants");
      if (variants == null) {
        return List.of(of(family, ""));
      }
      List<Workload> workloads = new ArrayList<>();
      Set<String> names = new HashSet<>();
      for (Variant variant : variants(origin, "variants", variants)) {
        for (Variant size : sized(origin, variant, sizes)) {
          if (!names.add(size.name())) {
            throw new WorkloadException(origin + ": variants: " + size.name() + " is there twice");
          }
          ObjectNode all = family.deepCopy();
          all.setAll(variant.keys());
          all.setAll(size.keys());
          workloads.add(of(all, "/" + size.name()));
        }
      }
      if (workloads.isEmpty()) {
        throw new WorkloadException(origin + ": variants: none (expected: a list, or no such key)");
      }
      return List.copyOf(workloads);
    } catch (JsonProcessingException e) {
      throw new WorkloadException(origin + ": " + explain(e), e);
    } catch (IllegalArgumentException e) {
      throw new WorkloadException(origin + ": " + e.getMessage(), e);
    }
  }

  /** The keys of a variant, without its name. */
  private record Variant(String name, ObjectNode keys) {}

  private static List<Variant> variants(String origin, String key, JsonNode list) {
    List<Variant> variants = new ArrayList<>();
    for (JsonNode entry : list) {
      if (!(entry instanceof ObjectNode keys) || !keys.path("name").isTextual()) {
        throw new WorkloadException(origin + ": " + key + ": " + entry + " (expected: a name)");
      }
      variants.add(new Variant(keys.remove("name").asText(), keys));
    }
    return variants;
  }

  /** Makes a variant in every size, but for the short one. */
  private static List<Variant> sized(String origin, Variant variant, @Nullable JsonNode sizes) {
    if (sizes == null || variant.name().equals(Workload.SMOKE)) {
      return List.of(variant);
    }
    return variants(origin, "sizes", sizes.deepCopy()).stream()
        .map(size -> new Variant(variant.name() + "-" + size.name(), size.keys()))
        .toList();
  }

  private static String explain(JsonProcessingException e) {
    if (!(e instanceof JsonMappingException mapping) || mapping.getPath().isEmpty()) {
      return e.getOriginalMessage();
    }
    String key =
        mapping.getPath().stream()
            .map(JsonMappingException.Reference::getFieldName)
            .filter(Objects::nonNull)
            .collect(Collectors.joining("."));
    if (e instanceof UnrecognizedPropertyException unknown) {
      List<String> known =
          unknown.getKnownPropertyIds().stream().map(Object::toString).sorted().toList();
      return key + ": unknown key (expected: one of " + String.join(", ", known) + ")";
    }
    return key + ": " + e.getOriginalMessage();
  }

  private static Workload of(JsonNode tree, String suffix) throws JsonProcessingException {
    Keys keys = YAML.treeToValue(tree, Keys.class);
    @Nullable String name = keys.name;
    if (name == null) {
      throw new IllegalArgumentException("name: absent (expected: the name of the workload)");
    }
    return new Workload(
        name + suffix,
        or(keys.description, ""),
        or(keys.publishers, 1),
        or(keys.subscribers, 1),
        or(keys.topics, 1),
        or(keys.payloadBytes, 128),
        or(keys.rate, 0L),
        or(keys.messages, 0L),
        or(keys.window, 0),
        duration("warmUp", or(keys.warmUp, "5s")),
        duration("duration", or(keys.duration, "10s")),
        or(keys.runs, 5),
        or(keys.latencyEvery, 1),
        or(keys.filters, List.of()),
        slowness(keys.slow),
        or(keys.idle, 0),
        or(keys.mayLose, List.of()),
        cluster(keys.cluster),
        or(keys.takeTurns, false),
        login(or(keys.login, "none")),
        or(keys.calls, 0),
        registers(keys.registers),
        durable(keys.durable));
  }

  private static Login login(String text) {
    return word("login", Login.values(), text);
  }

  private static <T extends Enum<T>> T word(String key, T[] values, String text) {
    List<String> words = new ArrayList<>();
    for (T value : values) {
      String word = value.name().toLowerCase(Locale.ROOT);
      if (word.equals(text)) {
        return value;
      }
      words.add(word);
    }
    throw new IllegalArgumentException(
        key
            + ": "
            + text
            + " (expected: "
            + String.join(", ", words.subList(0, words.size() - 1))
            + " or "
            + words.get(words.size() - 1)
            + ")");
  }

  private static @Nullable Registers registers(@Nullable RegisterKeys keys) {
    return keys == null
        ? null
        : new Registers(
            or(keys.servers, 3),
            or(keys.clients, 1),
            or(keys.inFlight, 1),
            word("registers.operation", Registers.Operation.values(), or(keys.operation, "write")),
            or(keys.kills, List.<String>of()).stream()
                .map(kill -> word("registers.kills", Registers.Victim.values(), kill))
                .toList(),
            word("registers.placement", Registers.Placement.values(), or(keys.placement, "leader")),
            or(keys.changes, 1_000),
            duration("registers.recovery", or(keys.recovery, "1s")),
            or(keys.data, temporary()));
  }

  private static @Nullable DurableTopic durable(@Nullable DurableKeys keys) {
    return keys == null
        ? null
        : new DurableTopic(
            word(
                "durable.operation",
                DurableTopic.Operation.values(),
                or(keys.operation, "publish")),
            or(keys.inFlight, 4_096),
            or(keys.events, 1_000_000L),
            or(keys.data, temporary()));
  }

  private static String temporary() {
    return System.getProperty("java.io.tmpdir");
  }

  private static Cluster cluster(@Nullable ClusterKeys keys) {
    return keys == null
        ? Cluster.ALONE
        : new Cluster(
            or(keys.servers, 1),
            or(keys.fanout, Cluster.DEFAULT_FANOUT),
            or(keys.publishers, List.of(0)),
            or(keys.subscribers, List.of(0)));
  }

  private static Slowness slowness(@Nullable SlowKeys keys) {
    if (keys == null) {
      return Slowness.NONE;
    }
    return new Slowness(
        or(keys.subscribers, 0),
        duration("slow.perEvent", or(keys.perEvent, "0s")),
        or(keys.mayLose, false));
  }

  private static <T> T or(@Nullable T value, T absent) {
    return value == null ? absent : value;
  }

  private static Duration duration(String key, String text) {
    String digits = text.replaceFirst("[a-z]+$", "");
    String unit = text.substring(digits.length());
    if (!digits.matches("[0-9]{1,9}")) {
      throw durationExpected(key, text);
    }
    long value = Long.parseLong(digits);
    return switch (unit) {
      case "us" -> Duration.ofNanos(value * 1000);
      case "ms" -> Duration.ofMillis(value);
      case "s" -> Duration.ofSeconds(value);
      case "m" -> Duration.ofMinutes(value);
      default -> throw durationExpected(key, text);
    };
  }

  private static IllegalArgumentException durationExpected(String key, String text) {
    return new IllegalArgumentException(
        key + ": " + text + " (expected: a whole number with us, ms, s or m, for example 500ms)");
  }
}
