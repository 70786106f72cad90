package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.loadtest.attack.wire.Opening;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** Callers or members that come together and go together. For the thread of the attack. */
final class HostileCrowd {
  private static final int CONCURRENCY = 65_536;

  private final List<HostileServiceClient> clients = new CopyOnWriteArrayList<>();

  /** Opens the connections of a number of clients; they get the numbers from 0. */
  HostileCrowd(Field field, int count, IntFunction<HostileServiceClient> client)
      throws InterruptedException {
    new Swarm(
            field,
            Opening.client(field.bus()),
            count,
            i -> {
              HostileServiceClient next = client.apply(i);
              clients.add(next);
              return next;
            })
        .fill();
  }

  /** Opens members of so many services each that answer nothing, and waits until they are. */
  static HostileCrowd members(Field field, int count, int each, IntFunction<String> service)
      throws InterruptedException {
    return members(
        field, count, each, service, frames -> new HostileServiceClient(field.tally(), frames));
  }

  /** Opens members of so many services each, and waits until they are. */
  static HostileCrowd members(
      Field field,
      int count,
      int each,
      IntFunction<String> service,
      Function<Stream<byte[]>, HostileServiceClient> member)
      throws InterruptedException {
    long before = answered(field);
    HostileCrowd members =
        new HostileCrowd(
            field,
            count,
            i ->
                member.apply(
                    HostileServiceClient.numbered(
                        each,
                        n ->
                            ClientCalls.register(
                                n, service.apply(i * each + n - 1), CONCURRENCY))));
    while (!field.over() && answered(field) < before + (long) count * each) {
      field.sleep(10);
    }
    return members;
  }

  private static long answered(Field field) {
    return field.tally().get("confirmed") + field.tally().get("refused");
  }

  /** Returns all that have come, those that have gone again included. */
  List<HostileServiceClient> clients() {
    return clients;
  }

  /** Resets all at one moment. */
  void reset() {
    clients.forEach(HostileServiceClient::reset);
    clients.clear();
  }
}
