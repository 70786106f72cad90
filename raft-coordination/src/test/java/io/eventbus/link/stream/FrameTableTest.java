package io.eventbus.link.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrameTableTest {
  private static final ByteBuffer IN = ByteBuffer.allocate(8);

  private final List<String> taken = new ArrayList<>();
  private final FrameTable<String> table =
      new FrameTable<String>()
          .with(
              5,
              (end, in, from, to) -> {
                taken.add(end + " " + from + " " + to);
                return true;
              })
          .with(3, (end, in, from, to) -> false);

  @Test
  void eachTypeHasAHandlerOfItsOwn() {
    assertThat(table.handle(5, "here", IN, 1, 4)).isTrue();
    assertThat(taken).containsExactly("here 1 4");
    assertThat(table.handle(3, "here", IN, 4, 8)).as("it has to wait").isFalse();
    assertThat(taken).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 4, 6, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void aTypeWithoutAHandlerIsNamed(int typeCode) {
    assertThatThrownBy(() -> table.handle(typeCode, "here", IN, 0, 8))
        .isInstanceOf(CorruptedFrameException.class)
        .hasMessage("typeCode: " + typeCode + " (expected: 3, 5)");
  }
}
