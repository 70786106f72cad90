package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Overflow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * An account that publishes many times its quota, beside the honest ones, which are of another
 * account. What is over the quota waits in the attackers' sockets.
 */
record QuotaFlood() implements Attack {
  private static final String TOPIC = "flood";
  private static final int BATCH = 10;
  private static final int PAYLOAD = 200;

  /** Most that the bus accepts above the quota: what a bucket holds at first. */
  private static final double SLACK = 1.3;

  @Override
  public String name() {
    return "quota";
  }

  @Override
  public String what() {
    return "clients of an account that offer ten times its quota of events";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("quota", 20_000L, "times", 10L, "clients", 4L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING
        .withAccounts("[account hostile]\nquota publish-events = " + knobs.get("quota") + "\n")
        .withP99Factor(1.2);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    List<byte[]> subscribe = List.of(ClientFrames.subscribe(1, TOPIC, Overflow.DROP_OLDEST));
    field
        .wires()
        .open(
            Opening.client(field.bus()),
            new HostileSubscriber(field.tally(), subscribe, HostileSubscriber.ALL, true));
    List<HostileSender> senders = new ArrayList<>();
    for (int i = 0; i < field.knob("clients"); i++) {
      HostileSender sender = HostileSender.connect(field);
      if (sender == null) {
        throw new IllegalStateException("client " + i + " was not welcomed");
      }
      senders.add(sender);
    }
    long began = System.nanoTime();
    offer(field, senders, began);
    double seconds = (System.nanoTime() - began) / 1e9;
    long taken = field.tally().get("delivered") * BATCH;
    field
        .tally()
        .check(
            "no more than the quota comes through",
            taken <= field.knob("quota") * (seconds + 1) * SLACK,
            taken + " events in " + Math.round(seconds) + " s");
    for (HostileSender sender : senders) {
      field
          .tally()
          .check("nobody is closed", sender.closeCode() == 0, "closed: " + sender.closeCode());
    }
  }

  /** As much as there is to offer by now, to whichever socket takes it. */
  private static void offer(Field field, List<HostileSender> senders, long began)
      throws InterruptedException {
    double perNano = field.knob("quota") * (double) field.knob("times") / 1e9;
    byte[] payload = new byte[PAYLOAD];
    long[] sequences = new long[senders.size()];
    long offered = 0;
    while (!field.over()) {
      if (offered > (System.nanoTime() - began) * perNano) {
        TimeUnit.MILLISECONDS.sleep(1);
        continue;
      }
      int at = (int) (offered / BATCH % senders.size());
      if (senders.get(at).isWritable()) {
        byte[] frame = ClientFrames.publish(TOPIC, sequences[at] + 1, false, BATCH, payload);
        if (!senders.get(at).send(frame)) {
          return;
        }
        sequences[at] += BATCH;
        field.tally().add("sent", BATCH);
      }
      offered += BATCH;
    }
  }
}
