package io.eventbus.server.session;

/**
 * Range of numbers: those of a topic.
 *
 * @param topic the loop's number of the topic
 * @param name of the producer; empty for the numbers of the session
 */
record Numbered(long topic, String name) implements Comparable<Numbered> {
  @Override
  public int compareTo(Numbered other) {
    int order = Long.compare(topic, other.topic);
    return order != 0 ? order : name.compareTo(other.name);
  }
}
