package io.eventbus.server.samples;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Size of all objects that can be reached from others, as HotSpot lays them out with compressed
 * pointers. It follows from the objects alone: neither other tests nor the collector change it.
 */
public final class ReachableHeap {
  private static final int HEADER = 12;
  private static final int ARRAY_HEADER = 16;
  private static final int REFERENCE = 4;
  private static final int ALIGNMENT = 8;

  /** Kinds of objects that belong to the process; the JDK's cleaners are one list for all. */
  private static final Set<Class<?>> FOREIGN =
      Set.of(
          Class.class, ClassLoader.class, Thread.class, ThreadGroup.class, PhantomReference.class);

  private final Map<Class<?>, Layout> layouts = new HashMap<>();
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Deque<Object> unread = new ArrayDeque<>();
  private long bytes;

  /** Size of an object of a class, and its fields that refer to others. */
  private record Layout(long bytes, List<Field> references) {}

  private ReachableHeap() {}

  /** Adds up all that these objects keep alive, with them themselves. */
  public static long bytes(Object... roots) {
    ReachableHeap heap = new ReachableHeap();
    for (Object root : roots) {
      heap.find(root);
    }
    for (Object next = heap.unread.poll(); next != null; next = heap.unread.poll()) {
      heap.read(next);
    }
    return heap.bytes;
  }

  private void find(@Nullable Object found) {
    if (found != null && !isForeign(found) && seen.add(found)) {
      unread.add(found);
    }
  }

  private static boolean isForeign(Object found) {
    return FOREIGN.stream().anyMatch(type -> type.isInstance(found));
  }

  private void read(Object object) {
    Class<?> type = object.getClass();
    if (type.isArray()) {
      Class<?> element = type.getComponentType();
      int length = Array.getLength(object);
      bytes += aligned(ARRAY_HEADER + (long) length * width(element));
      if (!element.isPrimitive()) {
        for (Object each : (Object[]) object) {
          find(each);
        }
      }
      return;
    }
    Layout layout = layouts.computeIfAbsent(type, ReachableHeap::layout);
    bytes += layout.bytes();
    for (Field field : layout.references()) {
      try {
        find(field.get(object));
      } catch (IllegalAccessException e) {
        throw new AssertionError(field.toString(), e);
      }
    }
  }

  private static Layout layout(Class<?> type) {
    long bytes = HEADER;
    List<Field> references = new ArrayList<>();
    for (Class<?> part = type; part != null; part = part.getSuperclass()) {
      for (Field field : part.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers())) {
          continue;
        }
        bytes += width(field.getType());
        // A reference of this kind does not keep its referent alive.
        if (!field.getType().isPrimitive() && part != Reference.class) {
          open(field);
          references.add(field);
        }
      }
    }
    return new Layout(aligned(bytes), references);
  }

  private static void open(Field field) {
    try {
      field.setAccessible(true);
    } catch (InaccessibleObjectException e) {
      throw new AssertionError(
          field + " cannot be read (expected: --add-opens for its package in the pom)", e);
    }
  }

  private static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  private static int width(Class<?> type) {
    if (!type.isPrimitive()) {
      return REFERENCE;
    }
    if (type == long.class || type == double.class) {
      return Long.BYTES;
    }
    if (type == int.class || type == float.class) {
      return Integer.BYTES;
    }
    return type == short.class || type == char.class ? Short.BYTES : Byte.BYTES;
  }
}
