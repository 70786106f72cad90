package io.eventbus.conformance.frame;

import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ack;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Deliver;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Echo;
import io.eventbus.schema.Gap;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Publish;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.schema.Welcome;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.avro.Schema;

/** The records of the protocol by the names that its page gives them. */
public final class FrameTypes {
  private static final Map<String, TypeCode> BY_NAME =
      Arrays.stream(TypeCode.values())
          .collect(Collectors.toUnmodifiableMap(FrameTypes::name, type -> type));

  private FrameTypes() {}

  /**
   * Returns the name of a type's record.
   *
   * @param type the type
   * @return for example {@code ChangeBus}
   */
  public static String name(TypeCode type) {
    return schema(type).getName();
  }

  /**
   * Finds a type by its name.
   *
   * @param name for example {@code ChangeBus}
   * @return the type
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
   * Returns the schema of a type's record.
   *
   * @param type the type
   * @return the schema, with enums as enums
   */
  public static Schema schema(TypeCode type) {
    return switch (type) {
      case HELLO -> Hello.getClassSchema();
      case PUBLISH -> Publish.getClassSchema();
      case SUBSCRIBE -> Subscribe.getClassSchema();
      case CHANGE_BUS -> ChangeBus.getClassSchema();
      case DELIVER -> Deliver.getClassSchema();
      case ACK -> Ack.getClassSchema();
      case UNSUBSCRIBE -> Unsubscribe.getClassSchema();
      case WELCOME -> Welcome.getClassSchema();
      case PROBLEM -> Problem.getClassSchema();
      case CONFIRM -> Confirm.getClassSchema();
      case GAP -> Gap.getClassSchema();
      case BARRIER -> Barrier.getClassSchema();
      case DRAINED -> Drained.getClassSchema();
      case CHANGE_BUS_FAILED -> ChangeBusFailed.getClassSchema();
      case CREDIT -> Credit.getClassSchema();
      case ECHO -> Echo.getClassSchema();
      case AUTHENTICATE -> Authenticate.getClassSchema();
    };
  }

  /**
   * Says whether a bus sends frames of a type.
   *
   * @param type the type
   * @return true also where clients send them, too
   */
  public static boolean fromBus(TypeCode type) {
    return switch (type) {
      case CHANGE_BUS, DELIVER, WELCOME, PROBLEM, CONFIRM, GAP, BARRIER, DRAINED, ECHO -> true;
      default -> false;
    };
  }

  /**
   * Says whether a client sends frames of a type.
   *
   * @param type the type
   * @return true also where buses send them, too
   */
  public static boolean fromClient(TypeCode type) {
    return !fromBus(type) || type == TypeCode.BARRIER || type == TypeCode.ECHO;
  }
}
