package io.eventbus.link;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Seeds of the fuzzer; the nightly build goes on from there. */
class LinkFramesFuzzSeedsTest {
  @ParameterizedTest
  @MethodSource("io.eventbus.link.LinkFramesFuzz#seeds")
  void aSeedIsRead(byte[] input) {
    new LinkFramesFuzz().everyReader(input);
  }
}
