package io.eventbus.server.samples;

import io.eventbus.server.security.Action;
import io.eventbus.server.security.Authentication;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Authenticator;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Answers when a test says so. */
public final class FakeAuthenticator implements Authenticator {
  /** Credentials that were checked. */
  public final List<Credentials> asked = new ArrayList<>();

  /** Answers to be given, in the same order. */
  public final List<CompletableFuture<Authentication>> answers = new ArrayList<>();

  @Override
  public CompletableFuture<Authentication> authenticate(Credentials credentials) {
    CompletableFuture<Authentication> answer = new CompletableFuture<>();
    asked.add(credentials);
    answers.add(answer);
    return answer;
  }

  /** Returns the answer to the last check. */
  public CompletableFuture<Authentication> last() {
    return answers.get(answers.size() - 1);
  }

  /** Returns an acceptance that allows everything. */
  public static Authentication everything() {
    return accepted(Map.of());
  }

  /** Returns an acceptance that allows everything but the limited actions. */
  public static Authentication accepted(Map<Action, FilterRules> limited) {
    Map<Action, FilterRules> rules = new EnumMap<>(Action.class);
    for (Action action : Action.values()) {
      rules.put(action, limited.getOrDefault(action, FilterRules.everything("test")));
    }
    return new Authentication.Accepted(
        new Principal(
            "", "subject", AuthenticationMethod.SHARED_TOKEN, new Permissions(rules), null, null));
  }
}
