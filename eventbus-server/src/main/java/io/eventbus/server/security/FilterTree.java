package io.eventbus.server.security;

import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Set of many filters that tells at once whether one of them matches a topic: a tree with a level
 * for each token, so that a topic costs about as much as it has tokens. Immutable once it is built;
 * any thread. Matching allocates nothing.
 */
final class FilterTree {
  private static final int SMALLEST = 4;
  private static final @Nullable String[] NO_NAMES = {};
  private static final @Nullable Node[] NO_CHILDREN = {};

  private final Node root = new Node();
  private final int steps;

  /** Node of the tree; children by name in a table with open addressing. */
  private static final class Node {
    private @Nullable String[] names = NO_NAMES;
    private @Nullable Node[] children = NO_CHILDREN;
    private int count;
    private @Nullable Node any;
    private boolean ends;
    private boolean hasTail;

    /** Returns the child for the token of a topic from {@code start} to {@code end}. */
    @Nullable Node find(String topic, int start, int end) {
      if (count == 0) {
        return null;
      }
      int hash = 0;
      for (int i = start; i < end; i++) {
        hash = 31 * hash + topic.charAt(i);
      }
      int mask = names.length - 1;
      for (int at = spread(hash) & mask; ; at = (at + 1) & mask) {
        String name = names[at];
        if (name == null) {
          return null;
        }
        if (name.length() == end - start && topic.startsWith(name, start)) {
          return children[at];
        }
      }
    }

    Node child(String name) {
      Node known = find(name, 0, name.length());
      if (known != null) {
        return known;
      }
      // At most half full, so that a search ends soon, and always at a free place.
      if (2 * (count + 1) > names.length) {
        grow();
      }
      Node made = new Node();
      put(name, made);
      return made;
    }

    private void grow() {
      @Nullable String[] oldNames = names;
      @Nullable Node[] oldChildren = children;
      names = new @Nullable String[Math.max(SMALLEST, 2 * oldNames.length)];
      children = new @Nullable Node[names.length];
      count = 0;
      for (int i = 0; i < oldNames.length; i++) {
        String name = oldNames[i];
        Node child = oldChildren[i];
        if (name != null && child != null) {
          put(name, child);
        }
      }
    }

    private void put(String name, Node child) {
      int mask = names.length - 1;
      int at = spread(name.hashCode()) & mask;
      while (names[at] != null) {
        at = (at + 1) & mask;
      }
      names[at] = name;
      children[at] = child;
      count++;
    }

    /** Returns how many nodes one topic may lead to, this one included. */
    int maxSteps() {
      int named = 0;
      for (Node child : children) {
        named = child == null ? named : Math.max(named, child.maxSteps());
      }
      return 1 + named + (any == null ? 0 : any.maxSteps());
    }

    private static int spread(int hash) {
      return hash ^ (hash >>> 16);
    }
  }

  /** Creates a tree. */
  FilterTree(List<TopicFilter> filters) {
    for (TopicFilter filter : filters) {
      Node node = root;
      for (String token : filter.tokens()) {
        if (token.equals("*")) {
          Node any = node.any;
          if (any == null) {
            any = new Node();
            node.any = any;
          }
          node = any;
        } else {
          node = node.child(token);
        }
      }
      if (filter.hasTail()) {
        node.hasTail = true;
      } else {
        node.ends = true;
      }
    }
    steps = root.maxSteps();
  }

  /** Returns how many tokens are compared for one topic at most. */
  int steps() {
    return steps;
  }

  /** Returns whether a filter matches a legal topic. */
  boolean matches(String topic) {
    if (topic.charAt(0) != Topic.SYSTEM) {
      return matches(root, topic, 0);
    }
    // Wildcards as first tokens do not select the system's topics.
    int end = endOfToken(topic, 0);
    Node first = root.find(topic, 0, end);
    return first != null && matches(first, topic, end + 1);
  }

  /**
   * Matches from a node: at each token two branches are possible; {@link #steps} counts the nodes
   * of all.
   */
  private static boolean matches(Node node, String topic, int start) {
    if (start > topic.length()) {
      return node.ends;
    }
    if (node.hasTail) {
      return true;
    }
    int end = endOfToken(topic, start);
    Node named = node.find(topic, start, end);
    if (named != null && matches(named, topic, end + 1)) {
      return true;
    }
    Node any = node.any;
    return any != null && matches(any, topic, end + 1);
  }

  private static int endOfToken(String topic, int start) {
    int dot = topic.indexOf('.', start);
    return dot < 0 ? topic.length() : dot;
  }
}
