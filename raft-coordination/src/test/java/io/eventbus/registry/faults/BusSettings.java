package io.eventbus.registry.faults;

import io.eventbus.registry.Endpoint;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Settings of a {@link BusProcess}; go through the command line. */
record BusSettings(
    String name,
    String directory,
    String host,
    int port,
    List<Endpoint> seeds,
    int voters,
    long replaceVoterAfterMillis,
    long leaseMillis,
    int snapshotEntries,
    int rememberedCommands) {

  List<String> arguments() {
    return List.of(
        name,
        directory,
        host,
        Integer.toString(port),
        "seeds=" + String.join(",", seeds.stream().map(Endpoint::toString).toList()),
        Integer.toString(voters),
        Long.toString(replaceVoterAfterMillis),
        Long.toString(leaseMillis),
        Integer.toString(snapshotEntries),
        Integer.toString(rememberedCommands));
  }

  static BusSettings parse(String... arguments) {
    List<Endpoint> seeds = new ArrayList<>();
    for (String seed : arguments[4].substring("seeds=".length()).split(",", -1)) {
      Endpoint endpoint = endpoint(seed);
      if (endpoint != null) {
        seeds.add(endpoint);
      }
    }
    return new BusSettings(
        arguments[0],
        arguments[1],
        arguments[2],
        Integer.parseInt(arguments[3]),
        seeds,
        Integer.parseInt(arguments[5]),
        Long.parseLong(arguments[6]),
        Long.parseLong(arguments[7]),
        Integer.parseInt(arguments[8]),
        Integer.parseInt(arguments[9]));
  }

  private static @Nullable Endpoint endpoint(String text) {
    int colon = text.lastIndexOf(':');
    return colon < 0
        ? null
        : new Endpoint(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
  }
}
