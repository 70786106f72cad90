package io.eventbus.loadtest.coordination.run;

import java.util.ArrayList;
import java.util.List;

/** A list of subscribers as the value of a register. */
final class Lists {
  private Lists() {}

  /** Enters a name, or takes it out if it stands there. */
  static String toggle(String list, String name) {
    List<String> names = new ArrayList<>(List.of(list.split(",", -1)));
    if (!names.remove(name)) {
      names.add(name);
    }
    return String.join(",", names);
  }
}
