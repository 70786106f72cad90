package io.eventbus.registry.faults;

import java.util.List;

/**
 * Answer of a {@link BusProcess}.
 *
 * @param invoked start of the request's execution by the process, in nanoseconds
 */
record Answer(long invoked, long returned, long localVersion, List<String> words) {
  static Answer parse(String[] line) {
    return new Answer(
        Long.parseLong(line[1]),
        Long.parseLong(line[2]),
        Long.parseLong(line[3]),
        List.of(line).subList(4, line.length));
  }

  String kind() {
    return words.get(0);
  }

  String word(int index) {
    return words.get(index);
  }

  long number(int index) {
    return Long.parseLong(words.get(index));
  }
}
