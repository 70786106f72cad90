package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.switching.Client;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Three buses are restarted one after the other, as in an upgrade: SIGTERM, the process ends,
 * starts again with the same directory, and is linked again before the next one's turn.
 */
final class RollingRestart implements Script {
  private static final int BUSES = 3;
  private static final Duration END_TIMEOUT = Duration.ofSeconds(90);
  private static final Duration STILL = Duration.ofSeconds(2);

  @Override
  public String name() {
    return "rolling-restart";
  }

  @Override
  public String description(SwitchPlan plan) {
    return "Three buses with a publisher and "
        + (plan.members() / BUSES - 1)
        + " subscribers each are restarted one after the other";
  }

  @Override
  public int buses() {
    return BUSES;
  }

  @Override
  public void play(Stage stage) throws InterruptedException {
    MovingCrowd crowd = stage.crowd();
    stage.beginOnAll(BUSES);
    crowd.window(MoveLatencies.Phase.BEFORE);
    crowd.flow(STILL);
    stage.still(crowd.pauses());
    long begun = System.nanoTime();
    for (int bus = 0; bus < BUSES; bus++) {
      restart(stage, bus);
    }
    stage.tell("all restarted after %.1f s", Stage.millis(System.nanoTime() - begun) / 1000);
    crowd.window(MoveLatencies.Phase.AFTER);
    crowd.flow(STILL);
  }

  private static void restart(Stage stage, int bus) {
    MovingCrowd crowd = stage.crowd();
    List<MovingMember> leaving = new ArrayList<>();
    for (MovingMember member : crowd.members()) {
      if (member.client().bus() == bus) {
        leaving.add(member);
      }
    }
    long clients = crowd.clients().stream().filter(client -> client.bus() == bus).count();
    crowd.window(MoveLatencies.Phase.DURING);
    long asked = System.nanoTime();
    stage.buses().stop(bus, END_TIMEOUT);
    double ended = Stage.millis(System.nanoTime() - asked);
    crowd.await(
        () -> crowd.clients().stream().map(Client::bus).noneMatch(at -> at == bus || at < 0),
        END_TIMEOUT,
        () -> "clients of bus " + bus + " are not at another one");
    stage.buses().start(bus);
    double back = Stage.millis(System.nanoTime() - asked);
    crowd.flow(Duration.ofNanos(crowd.intervalNanos() + TimeUnit.MILLISECONDS.toNanos(500)));
    stage.moved((int) clients);
    stage.round(back);
    double longest = 0;
    for (int i = 0; i < crowd.members().size(); i++) {
      MovingMember member = crowd.members().get(i);
      double pause = Stage.millis(crowd.pauseNanos(member));
      longest = Math.max(longest, pause);
      if (leaving.contains(member)) {
        stage.paused(pause);
      } else {
        stage.otherPaused(pause);
      }
    }
    stage.tell(
        "bus %d: %d clients, ended after %.1f s, linked again after %.1f s, longest pause %.1f ms",
        bus, clients, ended / 1000, back / 1000, longest);
  }
}
