package io.eventbus.client.internal.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.internal.base.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class StandbyWriterTest {
  private final List<Integer> sizes = new ArrayList<>();
  private final Deque<Transport.SendCallback> underWay = new ArrayDeque<>();
  private final List<String> idle = new ArrayList<>();
  private boolean aborted;

  private final Transport.Channel channel =
      new Transport.Channel() {
        @Override
        public void send(ByteBuffer message, Transport.SendCallback callback) {
          assertThat(underWay).as("one message at a time").isEmpty();
          sizes.add(message.remaining());
          underWay.add(callback);
        }

        @Override
        public void ping() {}

        @Override
        public void acceptMessages(int maxBytes) {}

        @Override
        public void pauseReading() {}

        @Override
        public void resumeReading() {}

        @Override
        public void close(int code, String reason) {}

        @Override
        public void abort() {
          aborted = true;
        }
      };

  private final StandbyWriter writer = new StandbyWriter(channel, 1000);

  @Test
  void framesGoInMessagesOneAtATime() {
    writer.send(List.of(new byte[400], new byte[400], new byte[400], new byte[3000]));
    writer.whenIdle(() -> idle.add("idle"));
    assertThat(sizes).containsExactly(800);
    underWay.remove().onSent(null);
    assertThat(sizes).containsExactly(800, 400);
    writer.send(List.of(new byte[10]));
    underWay.remove().onSent(null);
    underWay.remove().onSent(null);
    assertThat(sizes).containsExactly(800, 400, 3000, 10);
    assertThat(idle).isEmpty();
    underWay.remove().onSent(null);
    assertThat(idle).containsExactly("idle");
    writer.whenIdle(() -> idle.add("at once"));
    assertThat(idle).containsExactly("idle", "at once");
  }

  @Test
  void aSendThatFailsEndsTheConnectionAndNothingFollows() {
    writer.send(List.of(new byte[400]));
    writer.send(List.of(new byte[400]));
    writer.whenIdle(() -> idle.add("idle"));
    underWay.remove().onSent(new IllegalStateException("broken"));
    assertThat(aborted).isTrue();
    assertThat(sizes).containsExactly(400);
    assertThat(idle).isEmpty();
  }
}
