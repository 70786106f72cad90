package io.eventbus.conformance.frame;

import io.eventbus.protocol.FrameSchemas;
import io.eventbus.protocol.TypeCode;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** Records of the protocol by the names on its page. */
public final class FrameTypes {
  private static final Map<String, TypeCode> BY_NAME =
      Arrays.stream(TypeCode.values())
          .collect(Collectors.toUnmodifiableMap(FrameTypes::name, type -> type));

  private FrameTypes() {}

  /** Returns the name of a type's record. */
  public static String name(TypeCode type) {
    return FrameSchemas.of(type).getName();
  }

  /**
   * Finds a type by its name.
   *
   * @throws IllegalArgumentException if there is none of that name
   */
  public static TypeCode of(String name) {
    TypeCode type = BY_NAME.get(name);
    if (type == null) {
      throw new IllegalArgumentException(
          "frame: " + name + " (expected: one of " + BY_NAME.keySet().stream().sorted().toList());
    }
    return type;
  }

  /**
   * Returns whether a bus sends frames of a type.
   *
   * @return true also where clients send them, too
   */
  public static boolean fromBus(TypeCode type) {
    return switch (type) {
      case CHANGE_BUS,
          DELIVER,
          WELCOME,
          PROBLEM,
          CONFIRM,
          GAP,
          BARRIER,
          DRAINED,
          ECHO,
          INVOKE,
          REPLY,
          FAILURE,
          CANCEL,
          DATA,
          FEED,
          TOLD,
          TRUNCATED ->
          true;
      default -> false;
    };
  }

  /**
   * Returns whether a client sends frames of a type.
   *
   * @return true also where buses send them, too
   */
  public static boolean fromClient(TypeCode type) {
    return switch (type) {
      case BARRIER, ECHO, REPLY, FAILURE, CANCEL, DATA -> true;
      default -> !fromBus(type);
    };
  }

  /**
   * Returns whether a type is about services, which a library need not support.
   *
   * @return true for frames that only clients with calls or services send and receive
   */
  public static boolean isAboutServices(TypeCode type) {
    return switch (type) {
      case REGISTER, UNREGISTER, REQUEST, INVOKE, REPLY, FAILURE, CANCEL, DATA, CAPACITY -> true;
      default -> false;
    };
  }

  /**
   * Returns whether a type is about durable topics, which a library need not support.
   *
   * @return true for frames that only clients with consumers or questions send and receive
   */
  public static boolean isAboutDurableTopics(TypeCode type) {
    return switch (type) {
      case CONSUME, FEED, SETTLE, ASK, TOLD, TRUNCATED -> true;
      default -> false;
    };
  }
}
