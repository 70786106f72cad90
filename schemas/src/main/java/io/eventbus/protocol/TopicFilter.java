package io.eventbus.protocol;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Filter that selects topics: {@code *} stands for one token, a last {@code >} for one or more.
 *
 * <p>A wildcard as the first token never selects a topic that starts with {@code $}: system topics
 * are only seen by subscribers that name them. Instances are immutable; any thread may use them.
 */
public final class TopicFilter implements Comparable<TopicFilter> {
  private static final String[] NONE = {};

  private final String text;
  // Of a filter with wildcards only: a plain one is compared as a whole, and a bus keeps many.
  private final String[] tokens;
  private final boolean tail;
  private final boolean exact;

  private TopicFilter(String text, List<String> all) {
    this.text = text;
    this.tail = all.get(all.size() - 1).equals(">");
    this.exact = !tail && !all.contains("*");
    this.tokens =
        exact ? NONE : all.subList(0, tail ? all.size() - 1 : all.size()).toArray(new String[0]);
  }

  /**
   * Returns the error in a filter.
   *
   * @param filter any text
   * @return null for a legal filter, else the reason, to be shown to the client
   */
  public static @Nullable String problem(String filter) {
    String problem = Topic.nameProblem(filter, "filter");
    if (problem != null) {
      return problem;
    }
    List<String> tokens = split(filter);
    for (int i = 0; i < tokens.size(); i++) {
      String token = tokens.get(i);
      if (token.equals(">") && i < tokens.size() - 1) {
        return "filter "
            + Topic.quote(filter)
            + " has > as token "
            + (i + 1)
            + " (expected: only as the last)";
      }
      if (token.length() > 1 && (token.indexOf('*') >= 0 || token.indexOf('>') >= 0)) {
        return "filter "
            + Topic.quote(filter)
            + " mixes a wildcard into token "
            + (i + 1)
            + " (expected: * or > alone)";
      }
    }
    return null;
  }

  /**
   * Parses a filter.
   *
   * @param filter any text
   * @return the filter
   * @throws IllegalArgumentException if the filter is illegal, saying why
   */
  public static TopicFilter parse(String filter) {
    String problem = problem(filter);
    if (problem != null) {
      throw new IllegalArgumentException(problem);
    }
    return new TopicFilter(filter, split(filter));
  }

  /**
   * Returns whether a legal topic is selected.
   *
   * @param topic a topic that {@link Topic#formProblem} accepts
   * @return true if an event of that topic is for the subscriber
   */
  public boolean matches(String topic) {
    if (exact) {
      return text.equals(topic);
    }
    if (topic.charAt(0) == Topic.SYSTEM && startsWithWildcard()) {
      return false;
    }
    int start = 0;
    for (String token : tokens) {
      if (start > topic.length()) {
        return false;
      }
      int dot = topic.indexOf('.', start);
      int end = dot < 0 ? topic.length() : dot;
      if (!token.equals("*")
          && !(token.length() == end - start && topic.startsWith(token, start))) {
        return false;
      }
      start = end + 1;
    }
    return tail ? start <= topic.length() : start > topic.length();
  }

  /** Returns whether the first token is a wildcard; for a filter with wildcards only. */
  private boolean startsWithWildcard() {
    return tokens.length == 0 || tokens[0].equals("*");
  }

  /**
   * Returns whether every topic that another filter selects is selected by this one, too. Topics
   * longer than the limits of {@link Topic} count as well.
   *
   * @param other any filter
   * @return true if this one selects at least what the other one does
   */
  public boolean contains(TopicFilter other) {
    if (other.exact) {
      return matches(other.text);
    }
    if (exact || !hasLengthsOf(other) || (startsWithWildcard() && other.isSystem())) {
      return false;
    }
    for (int i = 0; i < tokens.length; i++) {
      if (!tokens[i].equals("*") && !tokens[i].equals(other.tokens[i])) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns whether a topic of any number of tokens that the other one selects is not too short or
   * long.
   */
  private boolean hasLengthsOf(TopicFilter other) {
    if (!tail) {
      return !other.tail && other.tokens.length == tokens.length;
    }
    return other.tokens.length + (other.tail ? 1 : 0) > tokens.length;
  }

  /**
   * Returns whether there is a topic that both this filter and another one select. Topics longer
   * than the limits of {@link Topic} count as well.
   *
   * @param other any filter
   * @return true if there is one
   */
  public boolean intersects(TopicFilter other) {
    if (other.exact) {
      return matches(other.text);
    }
    if (exact) {
      return other.matches(text);
    }
    boolean sharesLength =
        tail
            ? other.tail || other.tokens.length > tokens.length
            : other.tail
                ? tokens.length > other.tokens.length
                : tokens.length == other.tokens.length;
    if (!sharesLength
        || (startsWithWildcard() && other.isSystem())
        || (other.startsWithWildcard() && isSystem())) {
      return false;
    }
    for (int i = 0; i < Math.min(tokens.length, other.tokens.length); i++) {
      String mine = tokens[i];
      String its = other.tokens[i];
      if (!mine.equals("*") && !its.equals("*") && !mine.equals(its)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns whether the filter has no wildcard and so selects exactly one topic.
   *
   * @return true for a plain topic
   */
  public boolean isExact() {
    return exact;
  }

  /**
   * Returns whether the filter names system topics, those that start with {@code $}.
   *
   * @return true if it does
   */
  public boolean isSystem() {
    return text.charAt(0) == Topic.SYSTEM;
  }

  /**
   * Returns the tokens before a last {@code >}.
   *
   * @return an immutable list; a token {@code *} stands for any one
   */
  public List<String> tokens() {
    return exact ? List.copyOf(split(text)) : List.of(tokens);
  }

  /**
   * Returns whether the filter ends with {@code >}.
   *
   * @return true if one or more further tokens may follow {@link #tokens}
   */
  public boolean hasTail() {
    return tail;
  }

  private static List<String> split(String name) {
    List<String> tokens = new ArrayList<>();
    int start = 0;
    for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', start)) {
      tokens.add(name.substring(start, dot));
      start = dot + 1;
    }
    tokens.add(name.substring(start));
    return tokens;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TopicFilter that && text.equals(that.text);
  }

  /** Compares the texts of filters. */
  @Override
  public int compareTo(TopicFilter other) {
    return text.compareTo(other.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  @Override
  public String toString() {
    return text;
  }
}
