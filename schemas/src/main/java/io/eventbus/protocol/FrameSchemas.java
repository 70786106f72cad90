package io.eventbus.protocol;

import io.eventbus.schema.Ack;
import io.eventbus.schema.Ask;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Capacity;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Data;
import io.eventbus.schema.Deliver;
import io.eventbus.schema.Drained;
import io.eventbus.schema.Echo;
import io.eventbus.schema.Failure;
import io.eventbus.schema.Feed;
import io.eventbus.schema.Gap;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Publish;
import io.eventbus.schema.Register;
import io.eventbus.schema.Reply;
import io.eventbus.schema.Request;
import io.eventbus.schema.Settle;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Told;
import io.eventbus.schema.Truncated;
import io.eventbus.schema.Unregister;
import io.eventbus.schema.Unsubscribe;
import io.eventbus.schema.Welcome;
import org.apache.avro.Schema;

/** Records that are the bodies of the types of frames. */
public final class FrameSchemas {
  private FrameSchemas() {}

  /**
   * Returns the schema of a type's record.
   *
   * @param type the type
   * @return the schema, with enums as enums
   */
  public static Schema of(TypeCode type) {
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
      case REGISTER -> Register.getClassSchema();
      case UNREGISTER -> Unregister.getClassSchema();
      case REQUEST -> Request.getClassSchema();
      case INVOKE -> Invoke.getClassSchema();
      case REPLY -> Reply.getClassSchema();
      case FAILURE -> Failure.getClassSchema();
      case CANCEL -> Cancel.getClassSchema();
      case DATA -> Data.getClassSchema();
      case CREDIT -> Credit.getClassSchema();
      case CAPACITY -> Capacity.getClassSchema();
      case ECHO -> Echo.getClassSchema();
      case AUTHENTICATE -> Authenticate.getClassSchema();
      case CONSUME -> Consume.getClassSchema();
      case FEED -> Feed.getClassSchema();
      case SETTLE -> Settle.getClassSchema();
      case ASK -> Ask.getClassSchema();
      case TOLD -> Told.getClassSchema();
      case TRUNCATED -> Truncated.getClassSchema();
    };
  }
}
