package io.eventbus.journal.codec;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Coverage-guided fuzzing of the reader of entries, which come by links from other buses.
 *
 * <p>With {@code JAZZER_FUZZ=1} in the environment, as in the nightly build, it looks for new
 * inputs for some seconds; without, it only runs the seeds.
 */
class EntryFuzz {
  /** Reads an entry; the one that is read is written anew, in no more bytes. */
  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10s")
  void entry(byte[] input) {
    Entry read;
    try {
      read = new EntryReader().read(ByteBuffer.wrap(input));
    } catch (EntryFormatException e) {
      return;
    }
    ByteBuffer written = TestEntries.bytes(read.stamp(), read.records());
    if (written.limit() > input.length) {
      throw new AssertionError(written.limit() + " bytes of " + input.length);
    }
  }

  /** Returns an entry of each record, from which the fuzzer goes on. */
  static Stream<byte[]> seeds() {
    return EntryTest.samples().stream()
        .map(record -> TestEntries.bytes(1_700_000_000_123L, List.of(record)))
        .map(TestEntries::array);
  }
}
