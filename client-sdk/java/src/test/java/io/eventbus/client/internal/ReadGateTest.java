package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReadGateTest {
  private final List<String> calls = new ArrayList<>();
  private final ReadGate gate = new ReadGate();

  private ReadGate.Reader reader(String name) {
    return new ReadGate.Reader() {
      @Override
      public void pause() {
        calls.add("pause " + name);
      }

      @Override
      public void resume() {
        calls.add("resume " + name);
      }
    };
  }

  @Test
  void theLastQueueWithRoomOpensIt() {
    gate.attach(reader("a"));
    gate.isFull();
    gate.isFull();
    gate.hasRoom();
    assertThat(calls).containsExactly("pause a");
    gate.hasRoom();
    assertThat(calls).containsExactly("pause a", "resume a");
  }

  @Test
  void roomMayBeToldBeforeFull() {
    gate.attach(reader("a"));
    gate.hasRoom();
    gate.isFull();
    assertThat(calls).isEmpty();
    gate.isFull();
    gate.hasRoom();
    assertThat(calls).containsExactly("pause a", "resume a");
  }

  @Test
  void aNewConnectionIsPausedWhileAQueueIsFull() {
    gate.attach(reader("a"));
    gate.isFull();
    gate.attach(reader("b"));
    gate.hasRoom();
    assertThat(calls).containsExactly("pause a", "pause b", "resume b");
  }
}
