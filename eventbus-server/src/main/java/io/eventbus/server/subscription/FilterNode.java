package io.eventbus.server.subscription;

import io.eventbus.server.memory.HeapBytes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Node of the tree of filters with wildcards: one token. Guarded by the lock of the index.
 *
 * <p>A filter of 16 tokens that shares none of them makes 16 nodes, so a node is five references:
 * its only child is a field, a map is created for the second, and the sets of subscriptions are
 * created when there are any.
 */
final class FilterNode {
  /** Heap of a node and its place in its parent's map, without its token. */
  private static final int HEAP_BYTES = 80;

  private @Nullable String onlyToken;
  private @Nullable FilterNode onlyChild;
  private @Nullable Map<String, FilterNode> children;
  private @Nullable SubscriptionSet here;
  private @Nullable SubscriptionSet tail;

  /** Estimates the heap of a node with its token, in bytes. */
  static long heapBytes(String token) {
    return HEAP_BYTES + HeapBytes.ofString(token);
  }

  /** Adds a subscription below this node; returns the bytes of the nodes created for it. */
  long add(RoutedSubscription subscription, long changedAt) {
    long bytes = 0;
    FilterNode node = this;
    for (String token : subscription.filter().tokens()) {
      FilterNode next = node.child(token);
      if (next == null) {
        next = new FilterNode();
        node.put(token, next);
        bytes += heapBytes(token);
      }
      node = next;
    }
    node.setFor(subscription).add(subscription, changedAt);
    return bytes;
  }

  private SubscriptionSet setFor(RoutedSubscription subscription) {
    if (subscription.filter().hasTail()) {
      if (tail == null) {
        tail = new SubscriptionSet();
      }
      return tail;
    }
    if (here == null) {
      here = new SubscriptionSet();
    }
    return here;
  }

  /**
   * Removes a subscription; returns the bytes of the nodes removed with it, -1 if not found.
   *
   * @param changedAt the new stamp of its set, if it is there
   */
  long remove(RoutedSubscription subscription, long changedAt) {
    return remove(subscription, subscription.filter().tokens(), 0, changedAt);
  }

  private long remove(
      RoutedSubscription subscription, List<String> tokens, int depth, long changedAt) {
    if (depth == tokens.size()) {
      return removeHere(subscription, changedAt) ? 0 : -1;
    }
    String token = tokens.get(depth);
    FilterNode child = child(token);
    long freed = child == null ? -1 : child.remove(subscription, tokens, depth + 1, changedAt);
    if (child != null && freed >= 0 && child.isEmpty()) {
      drop(token);
      freed += heapBytes(token);
    }
    return freed;
  }

  private boolean removeHere(RoutedSubscription subscription, long changedAt) {
    boolean inTail = subscription.filter().hasTail();
    SubscriptionSet set = inTail ? tail : here;
    if (set == null || !set.remove(subscription, changedAt)) {
      return false;
    }
    if (set.isEmpty() && inTail) {
      tail = null;
    } else if (set.isEmpty()) {
      here = null;
    }
    return true;
  }

  private @Nullable FilterNode child(String token) {
    if (children != null) {
      return children.get(token);
    }
    return token.equals(onlyToken) ? onlyChild : null;
  }

  private void put(String token, FilterNode child) {
    if (children != null) {
      children.put(token, child);
    } else if (onlyToken == null || onlyChild == null) {
      onlyToken = token;
      onlyChild = child;
    } else {
      children = new HashMap<>(4);
      children.put(onlyToken, onlyChild);
      children.put(token, child);
      onlyToken = null;
      onlyChild = null;
    }
  }

  private void drop(String token) {
    if (children == null) {
      onlyToken = null;
      onlyChild = null;
      return;
    }
    children.remove(token);
    if (children.size() == 1) {
      // Also gives back the table, which does not shrink by itself.
      Map.Entry<String, FilterNode> last = children.entrySet().iterator().next();
      onlyToken = last.getKey();
      onlyChild = last.getValue();
      children = null;
    }
  }

  boolean isEmpty() {
    return onlyChild == null && children == null && here == null && tail == null;
  }

  /** Returns the number of nodes below this one. */
  int descendants() {
    if (onlyChild != null) {
      return 1 + onlyChild.descendants();
    }
    int n = 0;
    if (children != null) {
      for (FilterNode child : children.values()) {
        n += 1 + child.descendants();
      }
    }
    return n;
  }

  /** Collects the sets that a topic selects, on the root of the tree. */
  void match(MatchResult found) {
    match(found, 0);
  }

  private void match(MatchResult found, int depth) {
    found.visit();
    if (depth == found.tokenCount()) {
      if (here != null) {
        found.add(here);
      }
      return;
    }
    boolean onlyNamed = depth == 0 && found.isSystem();
    if (tail != null && !onlyNamed) {
      found.add(tail);
    }
    FilterNode named = child(found.token(depth));
    if (named != null) {
      named.match(found, depth + 1);
    }
    FilterNode any = onlyNamed ? null : child("*");
    if (any != null) {
      any.match(found, depth + 1);
    }
  }
}
