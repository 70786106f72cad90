package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CoordinationSubscriptionsTest {
  private final MemoryClient client = new MemoryClient();
  private final CoordinationSubscriptions lists = new CoordinationSubscriptions(1);

  @BeforeEach
  void create() {
    lists.create(client, 0);
  }

  private void run() throws InterruptedException {
    Phase phase =
        new Phase(
            List.of(new Slot(client, "a", 20), new Slot(client, "b", 20)), Duration.ofMillis(100));
    phase.startThreads(lists::step);
    phase.await();
  }

  @Test
  void aNameIsEnteredOnceAndTakenOutAgain() {
    String entered = CoordinationSubscriptions.toggle("6 a,b", "c");
    assertThat(entered).isEqualTo("7 a,b,c");
    assertThat(CoordinationSubscriptions.toggle(entered, "a")).isEqualTo("8 b,c");
  }

  @Test
  void everyChangeIsHeldOnce() throws Exception {
    run();
    assertThat(lists.check(client, 0).acknowledged()).isPositive();
    assertThat(lists.check(client, 0).whole()).isTrue();
  }

  @Test
  void aChangeThatOverwroteAnotherIsSeen() throws Exception {
    run();
    client.overwrite("list-0", "1 nobody");
    assertThat(lists.check(client, 0).lost()).isPositive();
    assertThat(lists.check(client, 0).doubled()).isEqualTo(1);
  }

  @Test
  void aListThatIsGoneIsLost() throws Exception {
    run();
    client.lose();
    assertThat(lists.check(client, 0).lost()).isPositive();
  }
}
