package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairQueueTest {
  private final FairQueue order = new FairQueue();
  private final List<String> drained = new ArrayList<>();

  private FairQueue.Entry connection(String address, String name) {
    return order.join(address, () -> drained.add(name));
  }

  private List<String> drainAll() {
    for (FairQueue.Entry next = order.poll(); next != null; next = order.poll()) {
      next.run();
    }
    return drained;
  }

  @Test
  void connectionsOfAnAddressAreInOrder() {
    List<FairQueue.Entry> all =
        List.of(connection("a", "a1"), connection("a", "a2"), connection("a", "a3"));
    order.add(all.get(2));
    order.add(all.get(0));
    order.add(all.get(1));
    assertThat(drainAll()).containsExactly("a3", "a1", "a2");
    assertThat(order.isEmpty()).isTrue();
  }

  @Test
  void aCrowdOfOneAddressDelaysAnotherByOne() {
    for (int i = 0; i < 5; i++) {
      order.add(connection("crowd", "c" + i));
    }
    order.add(connection("other", "o1"));
    order.add(connection("other", "o2"));
    assertThat(drainAll()).containsExactly("c0", "o1", "c1", "o2", "c2", "c3", "c4");
  }

  @Test
  void aWaitingCallbackIsListedOnce() {
    FairQueue.Entry entry = connection("a", "a1");
    assertThat(order.add(entry)).isTrue();
    assertThat(order.add(entry)).isFalse();
    assertThat(drainAll()).containsExactly("a1");
    assertThat(order.add(entry)).as("it may wait again").isTrue();
  }

  @Test
  void workThatBecomesDueDuringADrainGetsAnotherTurn() {
    FairQueue.Entry[] self = new FairQueue.Entry[1];
    self[0] =
        order.join(
            "a",
            () -> {
              drained.add("again");
              if (drained.size() < 3) {
                order.add(self[0]);
              }
            });
    order.add(self[0]);
    assertThat(drainAll()).hasSize(3);
  }

  @Test
  void addressesAreForgottenWithTheirLastConnection() {
    FairQueue.Entry first = connection("a", "a1");
    FairQueue.Entry second = connection("a", "a2");
    order.add(first);
    order.leave(first);
    assertThat(order.addresses()).isEqualTo(1);
    order.leave(second);
    assertThat(order.addresses()).isZero();
    assertThat(drainAll()).as("it still had its turn").containsExactly("a1");
  }
}
