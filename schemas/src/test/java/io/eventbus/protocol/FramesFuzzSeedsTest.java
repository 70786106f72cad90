package io.eventbus.protocol;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Seeds of the fuzzer; the nightly build goes on from there. */
class FramesFuzzSeedsTest {
  @ParameterizedTest
  @MethodSource("io.eventbus.protocol.FramesFuzz#seeds")
  void aSeedIsRead(byte[] input) {
    new FramesFuzz().everyDecoder(input);
  }
}
