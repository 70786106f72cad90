package io.eventbus.server.admin;

import io.eventbus.server.balance.BalanceStatus;
import io.eventbus.server.balance.BalanceView;
import io.eventbus.server.balance.BusLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Balance that notes its calls, and knows the buses bus-1 and bus-2. */
final class FakeBalance implements BalanceView {
  final List<String> asked = new ArrayList<>();

  @Override
  public BalanceStatus status() {
    return new BalanceStatus(0.5, true, false, 1, 2, 3, 4, 5, 6);
  }

  @Override
  public List<BusLoad> buses() {
    return List.of(
        new BusLoad("bus-1", "east", "UP", 0.5, 7, true, false, 0),
        new BusLoad("bus-2", "west", "UP", 0.1, 3, false, false, 12));
  }

  @Override
  public CompletionStage<Void> drain(String bus, boolean on, boolean forGood) {
    if (!bus.startsWith("bus-")) {
      return CompletableFuture.failedFuture(new IllegalArgumentException("no such bus"));
    }
    asked.add((on ? "drain " : "undrain ") + bus + (forGood ? " for good" : ""));
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletionStage<String> move(long connection, String bus) {
    if (connection == 13) {
      return CompletableFuture.failedFuture(new IllegalStateException("bus-2 is full"));
    }
    asked.add("move " + connection + " to " + bus);
    return CompletableFuture.completedFuture("bus-2");
  }
}
