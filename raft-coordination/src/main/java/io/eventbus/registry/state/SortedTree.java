package io.eventbus.registry.state;

import java.util.AbstractCollection;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Immutable sorted map: a change copies the path to the changed node and shares the rest.
 *
 * <p>It is an AVL tree (Adelson-Velsky and Landis, 1962) with path copying (Driscoll et al.,
 * "Making data structures persistent", 1989), so that a change costs O(log n) time and memory
 * whatever the keys are. A tree and not a hash trie, for two reasons: the order in which a bus
 * walks through it is the same everywhere, and no choice of names makes it slow.
 */
final class SortedTree<K extends Comparable<? super K>, V> {
  private final @Nullable Node<K, V> root;
  private final int size;

  private SortedTree(@Nullable Node<K, V> root, int size) {
    this.root = root;
    this.size = size;
  }

  static <K extends Comparable<? super K>, V> SortedTree<K, V> empty() {
    return new SortedTree<>(null, 0);
  }

  int size() {
    return size;
  }

  @Nullable V get(K key) {
    Node<K, V> node = root;
    while (node != null) {
      int order = key.compareTo(node.key);
      if (order == 0) {
        return node.value;
      }
      node = order < 0 ? node.left : node.right;
    }
    return null;
  }

  SortedTree<K, V> with(K key, V value) {
    boolean replaces = get(key) != null;
    return new SortedTree<>(put(root, key, value), replaces ? size : size + 1);
  }

  SortedTree<K, V> without(K key) {
    return get(key) == null ? this : new SortedTree<>(remove(root, key), size - 1);
  }

  /** Returns the values in the order of their keys, as an immutable view. */
  Collection<V> values() {
    return new AbstractCollection<>() {
      @Override
      public Iterator<V> iterator() {
        Walk<K, V> walk = new Walk<>(root);
        return new Iterator<>() {
          @Override
          public boolean hasNext() {
            return walk.hasNext();
          }

          @Override
          public V next() {
            return walk.next().value;
          }
        };
      }

      @Override
      public int size() {
        return size;
      }
    };
  }

  /** Calls the action with every entry in the order of the keys. */
  void forEach(BiConsumer<? super K, ? super V> action) {
    for (Walk<K, V> walk = new Walk<>(root); walk.hasNext(); ) {
      Node<K, V> node = walk.next();
      action.accept(node.key, node.value);
    }
  }

  /**
   * Returns whether the entries are equal, whatever the shapes that the histories of the trees have
   * left.
   */
  @Override
  public boolean equals(@Nullable Object other) {
    if (!(other instanceof SortedTree<?, ?> tree) || tree.size != size) {
      return false;
    }
    Walk<K, V> mine = new Walk<>(root);
    Walk<?, ?> theirs = new Walk<>(tree.root);
    while (mine.hasNext()) {
      Node<K, V> a = mine.next();
      Node<?, ?> b = theirs.next();
      if (!a.key.equals(b.key) || !a.value.equals(b.value)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    int hash = 0;
    for (Walk<K, V> walk = new Walk<>(root); walk.hasNext(); ) {
      Node<K, V> node = walk.next();
      hash = 31 * hash + Objects.hash(node.key, node.value);
    }
    return hash;
  }

  /** Returns whether the two sides of every node differ in height by 1 at most. */
  boolean isBalanced() {
    for (Walk<K, V> walk = new Walk<>(root); walk.hasNext(); ) {
      Node<K, V> node = walk.next();
      if (Math.abs(height(node.left) - height(node.right)) > 1) {
        return false;
      }
    }
    return true;
  }

  private static <K extends Comparable<? super K>, V> Node<K, V> put(
      @Nullable Node<K, V> node, K key, V value) {
    if (node == null) {
      return new Node<>(key, value, null, null);
    }
    int order = key.compareTo(node.key);
    if (order == 0) {
      return new Node<>(key, value, node.left, node.right);
    }
    return order < 0
        ? balanced(node, put(node.left, key, value), node.right)
        : balanced(node, node.left, put(node.right, key, value));
  }

  /** Removes a key that is known to be in the tree. */
  private static <K extends Comparable<? super K>, V> @Nullable Node<K, V> remove(
      @Nullable Node<K, V> node, K key) {
    if (node == null) {
      throw new NoSuchElementException();
    }
    int order = key.compareTo(node.key);
    if (order < 0) {
      return balanced(node, remove(node.left, key), node.right);
    }
    if (order > 0) {
      return balanced(node, node.left, remove(node.right, key));
    }
    if (node.left == null) {
      return node.right;
    }
    if (node.right == null) {
      return node.left;
    }
    Node<K, V> successor = node.right;
    while (successor.left != null) {
      successor = successor.left;
    }
    return balanced(successor, node.left, remove(node.right, successor.key));
  }

  /**
   * Returns a node with the entry of {@code entry} over two trees whose heights differ by 2 at
   * most.
   */
  private static <K, V> Node<K, V> balanced(
      Node<K, V> entry, @Nullable Node<K, V> left, @Nullable Node<K, V> right) {
    int lean = height(left) - height(right);
    if (left != null && lean > 1) {
      Node<K, V> inner = left.right;
      if (inner == null || height(left.left) >= inner.height) {
        return left.over(left.left, entry.over(inner, right));
      }
      return inner.over(left.over(left.left, inner.left), entry.over(inner.right, right));
    }
    if (right != null && lean < -1) {
      Node<K, V> inner = right.left;
      if (inner == null || height(right.right) >= inner.height) {
        return right.over(entry.over(left, inner), right.right);
      }
      return inner.over(entry.over(left, inner.left), right.over(inner.right, right.right));
    }
    return entry.over(left, right);
  }

  private static int height(@Nullable Node<?, ?> node) {
    return node == null ? 0 : node.height;
  }

  private static final class Node<K, V> {
    final K key;
    final V value;
    final @Nullable Node<K, V> left;
    final @Nullable Node<K, V> right;
    final int height;

    Node(K key, V value, @Nullable Node<K, V> left, @Nullable Node<K, V> right) {
      this.key = key;
      this.value = value;
      this.left = left;
      this.right = right;
      this.height = 1 + Math.max(height(left), height(right));
    }

    Node<K, V> over(@Nullable Node<K, V> newLeft, @Nullable Node<K, V> newRight) {
      return new Node<>(key, value, newLeft, newRight);
    }
  }

  /** Walk through the nodes in order; the stack is as deep as the tree. */
  private static final class Walk<K, V> {
    private final ArrayDeque<Node<K, V>> path = new ArrayDeque<>();

    Walk(@Nullable Node<K, V> root) {
      descend(root);
    }

    boolean hasNext() {
      return !path.isEmpty();
    }

    Node<K, V> next() {
      Node<K, V> node = path.pop();
      descend(node.right);
      return node;
    }

    private void descend(@Nullable Node<K, V> from) {
      for (Node<K, V> node = from; node != null; node = node.left) {
        path.push(node);
      }
    }
  }
}
