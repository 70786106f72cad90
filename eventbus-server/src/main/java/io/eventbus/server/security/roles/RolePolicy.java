package io.eventbus.server.security.roles;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationChain;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.QuotaPolicy;
import io.eventbus.server.security.Rule;
import io.eventbus.server.security.RuleList;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.slf4j.LoggerFactory;

/**
 * Permissions and quotas of clients by the roles of a file. Clients with the same roles share the
 * rules that are the same for all of them; those whose templates have the same values as well share
 * everything. Any thread.
 */
public final class RolePolicy implements PermissionPolicy, QuotaPolicy {
  private static final int MAX_ROLE_SETS = 1_000;
  private static final Duration TELL_AGAIN = Duration.ofMinutes(10);

  /** Maximum of remembered rules: some tens of megabytes at most. */
  private static final int MAX_BOUND_RULES = 100_000;

  private final BiConsumer<String, Roles> unknownRole;
  private final boolean foreign;
  private volatile Generation generation;

  /** State of one version of the file. Replaced as a whole, with what it remembers. */
  private static final class Generation {
    final Roles roles;
    final BoundedCache<List<String>, RoleSet> sets = new BoundedCache<>(MAX_ROLE_SETS);
    final BoundedCache<Key, Permissions> bound = new BoundedCache<>(MAX_BOUND_RULES);

    Generation(Roles roles) {
      this.roles = roles;
    }
  }

  /** Properties of clients that make their permissions differ. */
  private record Key(List<String> roles, List<Optional<String>> values) {}

  /** Set of roles: what is the same for all clients that have them. */
  private record RoleSet(
      Map<Action, FilterRules> shared, List<RulePattern> patterns, Set<String> templates) {}

  /**
   * Creates a policy for tokens whose roles may be of other applications, too.
   *
   * @param roles what the file says
   * @param foreign whether tokens have roles that are not for the bus; otherwise one that the file
   *     does not have is logged
   */
  public RolePolicy(Roles roles, boolean foreign) {
    this(
        roles,
        foreign,
        new RateLimitedLog(
            LoggerFactory.getLogger(RolePolicy.class), System::nanoTime, TELL_AGAIN));
  }

  RolePolicy(Roles roles, boolean foreign, RateLimitedLog log) {
    this(
        roles,
        foreign,
        (name, read) ->
            log.warn(
                name,
                "clients come with the role {}, which {} does not have: it allows nothing{}",
                RolesParser.shown(name),
                read.fileName()));
  }

  /**
   * Makes a policy that tells another than the log of roles which the file does not have.
   *
   * @param roles what the file says
   * @param foreign as above
   * @param unknownRole hears the name of such a role, each time that a client comes with it, and
   *     what the file says; any thread
   */
  public RolePolicy(Roles roles, boolean foreign, BiConsumer<String, Roles> unknownRole) {
    this.unknownRole = unknownRole;
    this.foreign = foreign;
    this.generation = new Generation(roles);
  }

  /**
   * Takes another version of the file. It holds for clients that come from now on.
   *
   * @param roles what it says
   */
  public void use(Roles roles) {
    generation = new Generation(roles);
  }

  @Override
  public Permissions permissions(Identity identity, Credentials credentials) {
    Generation now = generation;
    List<String> names = rolesOf(now.roles, identity);
    RoleSet set = now.sets.get(names, key -> roleSet(now.roles, key), made -> 1);
    TemplateValues values =
        new TemplateValues(
            identity.subject(), identity.account(), credentials.client(), identity.claims());
    List<Optional<String>> bound =
        set.templates().stream().map(t -> Optional.ofNullable(values.of(t))).toList();
    return now.bound.get(
        new Key(names, bound), key -> bind(set, values), made -> 1 + set.patterns().size());
  }

  @Override
  public Quotas ofIdentity(Identity identity) {
    Roles roles = generation.roles;
    return roles.quotasOf(rolesOf(roles, identity));
  }

  @Override
  public Quotas ofAccount(String account) {
    return generation.roles.quotasOfAccount(account);
  }

  /** Returns whether a client may have roles that are not for the bus. */
  private boolean isForeign(Identity identity) {
    return foreign && identity.method() == AuthenticationMethod.JWT;
  }

  /** Returns those roles of a client that the file has, in alphabetical order. */
  private List<String> rolesOf(Roles roles, Identity identity) {
    Collection<String> names = identity.roles();
    if (identity.method() == AuthenticationMethod.NONE) {
      names = List.of(AuthenticationChain.ANONYMOUS_ROLE);
    } else if (names.isEmpty()) {
      names = roles.defaults();
    }
    TreeSet<String> known = new TreeSet<>();
    for (String name : names) {
      if (roles.has(name)) {
        known.add(name);
      } else if (!isForeign(identity)) {
        unknownRole.accept(name, roles);
      }
    }
    if (known.isEmpty() && isForeign(identity)) {
      // All roles of the token are for other applications.
      known.addAll(roles.defaults());
    }
    return List.copyOf(known);
  }

  private static RoleSet roleSet(Roles roles, List<String> names) {
    List<RuleBlock> blocks = roles.blocksOf(names);
    List<RulePattern> patterns =
        blocks.stream().flatMap(block -> block.withTemplates().stream()).toList();
    Set<String> templates = new TreeSet<>();
    patterns.forEach(pattern -> templates.addAll(pattern.templates()));
    String origin = origin(names);
    Map<Action, FilterRules> shared = new EnumMap<>(Action.class);
    for (Action action : Action.values()) {
      List<RuleList> lists = new ArrayList<>();
      for (RuleBlock block : blocks) {
        RuleList list = block.plain(action);
        if (list != null) {
          lists.add(list);
        }
      }
      shared.put(action, FilterRules.ofLists(lists, origin));
    }
    return new RoleSet(shared, patterns, templates);
  }

  private static String origin(List<String> names) {
    String shown = String.join(", ", names.subList(0, Math.min(10, names.size())));
    return switch (names.size()) {
      case 0 -> "no role";
      case 1 -> "role " + shown;
      default -> "roles " + shown + (names.size() > 10 ? ", …" : "");
    };
  }

  private static Permissions bind(RoleSet set, TemplateValues values) {
    Map<Action, FilterRules> all = new EnumMap<>(set.shared());
    for (Action action : Action.values()) {
      List<Rule> own =
          set.patterns().stream()
              .filter(p -> p.action() == action)
              .map(p -> p.bind(values))
              .toList();
      all.computeIfPresent(action, (a, shared) -> shared.with(own));
    }
    return new Permissions(all);
  }
}
