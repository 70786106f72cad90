package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.ServerGroup;
import io.eventbus.loadtest.coordination.VisibleCluster;
import io.eventbus.loadtest.run.LatencySummary;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** Makes changes, a hundred a second, and asks every server when it saw them. */
final class ChangeWatch {
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final VisibleCluster cluster;
  private final CoordinationClient writer;

  ChangeWatch(VisibleCluster cluster, CoordinationClient writer) {
    this.cluster = cluster;
    this.writer = writer;
  }

  Findings.Visibility run(String system, int changes) throws InterruptedException {
    String register = cluster.timedRegister();
    writer.create(register, "0");
    long[] asked = new long[changes];
    long[] answered = new long[changes];
    for (int i = 0; i < changes; i++) {
      LockSupport.parkNanos(STEP_NANOS);
      asked[i] = System.nanoTime();
      writer.write(new Put(register, Integer.toString(i + 1)));
      answered[i] = System.nanoTime();
    }
    long[] last = new long[changes];
    for (int server = 0; server < cluster.servers(); server++) {
      int number = server;
      ServerGroup.await(
          "server " + server + " sees all changes", () -> cluster.seen(number).length >= changes);
      long[] seen = cluster.seen(server);
      if (seen.length != changes) {
        throw new CoordinationException(
            "visibility", "server " + server + " saw " + seen.length + " of " + changes);
      }
      for (int i = 0; i < changes; i++) {
        last[i] = server == 0 ? seen[i] : Math.max(last[i], seen[i]);
      }
    }
    return new Findings.Visibility(
        system, cluster.servers(), between(answered, last), between(asked, last));
  }

  static LatencySummary between(long[] from, long[] to) {
    Histogram nanos = new Histogram(3);
    for (int i = 0; i < from.length; i++) {
      nanos.recordValue(Math.max(0, to[i] - from[i]));
    }
    return LatencySummary.of(nanos);
  }
}
