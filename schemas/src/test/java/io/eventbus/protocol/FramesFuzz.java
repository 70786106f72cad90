package io.eventbus.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Coverage-guided fuzzing of every decoder that reads the network.
 *
 * <p>With {@code JAZZER_FUZZ=1} in the environment, as in the nightly build, it looks for new
 * inputs for some seconds; without, it only runs the seeds. Its findings are in {@code
 * target/fuzz}.
 */
class FramesFuzz {
  // No type codes between clients and buses.
  private static final int MESSAGE = 100;
  private static final int NAMES = 101;

  /** Calls the decoder that the first byte chooses, so that one fuzzing run reaches them all. */
  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10s")
  void everyDecoder(byte[] input) {
    if (input.length == 0) {
      return;
    }
    byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
    int decoder = input[0];
    TypeCode type = TypeCode.of(decoder);
    if (type != null) {
      Differential.check(type, bytes);
    } else if (decoder == MESSAGE) {
      Differential.checkMessage(bytes);
    } else if (decoder == NAMES) {
      checkNames(new String(bytes, UTF_8));
    }
  }

  private static void checkNames(String text) {
    if (TopicFilter.problem(text) == null) {
      TopicFilter filter = TopicFilter.parse(text);
      if (filter.isExact() && !filter.matches(text)) {
        throw new AssertionError("a filter without a wildcard that does not select itself");
      }
    } else if (Topic.problem(text) == null) {
      throw new AssertionError("a legal topic that is no legal filter");
    }
  }

  /** Returns a legal input for each decoder, from which the fuzzer goes on. */
  static Stream<byte[]> seeds() {
    Stream<byte[]> records =
        Stream.iterate(0, i -> i < 60, i -> i + 1)
            .map(i -> Records.all().sample())
            .flatMap(
                record ->
                    Stream.of(
                        seed(Records.typeOf(record).code(), AnyBlocksEncoder.encode(record, 1)),
                        seed(MESSAGE, ControlFrames.encode(Records.typeOf(record), record))));
    Stream<byte[]> names =
        Stream.of("a.b", "a.*.>", "$SYS.bus", "flights.EDDF.landed")
            .map(name -> seed(NAMES, name.getBytes(UTF_8)));
    // Integers that are padded as far as the Avro libraries read them: one byte more is an error.
    Stream<byte[]> padded =
        Stream.of(
            seed(1, "0274" + "02" + "00" + "00" + "02" + "02" + "8080808000" + "000000"),
            seed(2, "02" + "0261" + "8080808000" + "8280808000"),
            seed(MESSAGE, "9680808000" + "0202"));
    return Stream.of(records, names, padded).flatMap(seeds -> seeds);
  }

  private static byte[] seed(int decoder, String hex) {
    return seed(decoder, HexFormat.of().parseHex(hex));
  }

  private static byte[] seed(int decoder, byte[] bytes) {
    byte[] seed = new byte[bytes.length + 1];
    seed[0] = (byte) decoder;
    System.arraycopy(bytes, 0, seed, 1, bytes.length);
    return seed;
  }
}
