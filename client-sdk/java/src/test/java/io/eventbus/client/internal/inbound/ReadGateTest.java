package io.eventbus.client.internal.inbound;

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
      public void stall() {
        calls.add("hold " + name);
      }

      @Override
      public void resume() {
        calls.add("go on " + name);
      }

      @Override
      public void tooSlow(String why) {
        calls.add(why + ' ' + name);
      }
    };
  }

  @Test
  void theLastQueueWithRoomOpensIt() {
    gate.attach(reader("a"));
    gate.onFull();
    gate.onFull();
    gate.onRoom();
    assertThat(calls).containsExactly("go on a", "hold a");
    gate.onRoom();
    assertThat(calls).containsExactly("go on a", "hold a", "go on a");
  }

  @Test
  void roomMayBeToldBeforeFull() {
    gate.attach(reader("a"));
    gate.onRoom();
    gate.onFull();
    assertThat(calls).containsExactly("go on a");
    gate.onFull();
    gate.onRoom();
    assertThat(calls).containsExactly("go on a", "hold a", "go on a");
  }

  @Test
  void aNewConnectionIsHeldBackWhileAQueueIsFull() {
    gate.attach(reader("a"));
    gate.onFull();
    gate.attach(reader("b"));
    gate.onRoom();
    assertThat(calls).containsExactly("go on a", "hold a", "hold b", "go on b");
  }

  @Test
  void onlyTheConnectionThatIsReadIsToldHowThingsAre() {
    ReadGate.Reader old = reader("a");
    ReadGate.Reader now = reader("b");
    gate.attach(old);
    gate.attach(now);
    calls.clear();
    gate.apply(old);
    gate.apply(now);
    gate.onFull();
    gate.apply(now);
    assertThat(calls).containsExactly("go on b", "hold b", "hold b");
  }
}
