package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.Spread;
import io.eventbus.loadtest.switching.Client;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Kills one of three buses with SIGKILL, again and again, and starts it again each time. Its
 * clients have to find another bus by themselves; what it had for them, and what its publishers had
 * just sent, may be lost and is counted. Nothing of what publishers elsewhere send to subscribers
 * elsewhere may be.
 */
final class Kill implements Script {
  private static final int BUSES = 3;
  private static final Duration SERVE_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration STILL = Duration.ofSeconds(2);
  private static final Duration SETTLE = Duration.ofSeconds(1);

  @Override
  public String name() {
    return "kill";
  }

  @Override
  public String description(SwitchPlan plan) {
    return "One of three buses with a publisher and "
        + (plan.members() / BUSES - 1)
        + " subscribers each is killed, "
        + plan.kills()
        + " times";
  }

  @Override
  public int buses() {
    return BUSES;
  }

  @Override
  public void play(Stage stage) throws InterruptedException {
    stage.beginOnAll(BUSES);
    for (int kill = 0; kill < stage.plan().kills(); kill++) {
      kill(stage, kill);
    }
  }

  /** Faults of a subscriber's streams before the kill. */
  private record Before(MovingMember member, Integrity ofAll, Integrity ofLiving) {}

  private static void kill(Stage stage, int kill) {
    MovingCrowd crowd = stage.crowd();
    int publishers = crowd.sources().size();
    int bus = kill % BUSES;
    crowd.window(MoveLatencies.Phase.BEFORE);
    crowd.flow(STILL);
    stage.still(crowd.pauses());
    Set<Integer> dead = new HashSet<>();
    for (Source source : crowd.sources()) {
      if (source.client().bus() == bus) {
        dead.add(source.number());
      }
    }
    IntPredicate living = publisher -> !dead.contains(publisher);
    List<Before> members = new ArrayList<>();
    List<Before> otherMembers = new ArrayList<>();
    for (MovingMember member : crowd.members()) {
      Integrity of = member.watch().integrity(p -> true);
      Before before = new Before(member, of, member.watch().integrity(living));
      (member.client().bus() == bus ? members : otherMembers).add(before);
    }
    List<Client> clients = crowd.clients().stream().filter(client -> client.bus() == bus).toList();
    crowd.window(MoveLatencies.Phase.DURING);
    long killed = System.nanoTime();
    stage.buses().kill(bus);
    crowd.await(
        () -> clients.stream().allMatch(client -> client.bus() >= 0 && client.bus() != bus),
        SERVE_TIMEOUT,
        () -> "clients of the killed bus " + bus + " have not found another");
    crowd.await(
        () ->
            members.stream()
                .map(Before::member)
                .allMatch(m -> m.watch().heardSince(m.client().arrivedAt(), living, publishers)),
        SERVE_TIMEOUT,
        () -> "subscribers of the killed bus " + bus + " are not served elsewhere");
    crowd.flow(SETTLE);
    List<Double> served = new ArrayList<>();
    for (Before orphan : members) {
      Watch watch = orphan.member().watch();
      served.add(Stage.millis(watch.resumedAt(living, publishers) - killed));
      stage.paused(Stage.millis(watch.pause(living, publishers, crowd.intervalNanos())));
    }
    served.forEach(stage::arrived);
    List<Double> unaffected = new ArrayList<>();
    for (Before other : otherMembers) {
      unaffected.add(
          Stage.millis(other.member().watch().pause(living, publishers, crowd.intervalNanos())));
    }
    unaffected.forEach(stage::otherPaused);
    stage.moved(clients.size());
    crowd.window(MoveLatencies.Phase.AFTER);
    stage.buses().start(bus);
    crowd.flow(SETTLE);
    long lost = lost(members, otherMembers, living);
    stage.allow(lost);
    stage.round(Spread.of(served).at(100));
    stage.tell(
        "bus %d killed: %d clients, the last one served after %.0f ms; elsewhere the longest pause"
            + " was %.1f ms; %d events lost with the bus",
        bus, clients.size(), Spread.of(served).at(100), Spread.of(unaffected).at(100), lost);
  }

  /** Counts what was lost where it may be: not from the living to those elsewhere. */
  private static long lost(List<Before> members, List<Before> otherMembers, IntPredicate living) {
    long lost = 0;
    for (Before orphan : members) {
      lost += orphan.member().watch().integrity(p -> true).lost() - orphan.ofAll().lost();
    }
    for (Before other : otherMembers) {
      long all = other.member().watch().integrity(p -> true).lost() - other.ofAll().lost();
      long ofLiving = other.member().watch().integrity(living).lost() - other.ofLiving().lost();
      lost += all - ofLiving;
    }
    return lost;
  }
}
