package io.eventbus.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Holds this module's rows of the package table in {@code docs/architecture.md}. */
@AnalyzeClasses(
    packages = {"io.eventbus.server", "io.eventbus.cli"},
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String SCHEMA = "io.eventbus.schema";
  private static final String PROTOCOL = "io.eventbus.protocol";
  private static final String REGISTRY = "io.eventbus.registry..";
  private static final String LINK = "io.eventbus.link";
  private static final String CLIENT = "io.eventbus.client";

  private static final String CONFIG = "io.eventbus.server.config";
  private static final String STATS = "io.eventbus.server.stats";
  private static final String LOG = "io.eventbus.server.log";
  private static final String SECURITY = "io.eventbus.server.security";
  private static final String SECURITY_JWT = "io.eventbus.server.security.jwt";
  private static final String SECURITY_USERS = "io.eventbus.server.security.users";
  private static final String SECURITY_ROLES = "io.eventbus.server.security.roles";
  private static final String ADMISSION = "io.eventbus.server.admission";
  private static final String ADVISORY = "io.eventbus.server.advisory";
  private static final String QUOTA = "io.eventbus.server.quota";
  private static final String TLS = "io.eventbus.server.tls";
  private static final String ROUTING = "io.eventbus.server.routing";
  private static final String CALL = "io.eventbus.server.call";
  private static final String TUNNEL = "io.eventbus.server.call.tunnel";
  private static final String INTERNAL = "io.eventbus.server.internal";
  private static final String SESSION = "io.eventbus.server.session";
  private static final String QUEUE = "io.eventbus.server.queue";
  private static final String TRANSPORT = "io.eventbus.server.transport";
  private static final String WEBSOCKET = "io.eventbus.server.transport.websocket";
  private static final String CLUSTER = "io.eventbus.server.cluster";
  private static final String BALANCE = "io.eventbus.server.balance";
  private static final String DECISION = "io.eventbus.server.balance.decision";
  private static final String FEDERATION = "io.eventbus.server.federation";
  private static final String LANE = "io.eventbus.server.federation.lane";
  private static final String TREE = "io.eventbus.server.federation.tree";
  private static final String INTEREST = "io.eventbus.server.federation.interest";
  private static final String FAR_CALLS = "io.eventbus.server.federation.call";
  private static final String ADMIN = "io.eventbus.server.admin";
  private static final String SYS = "io.eventbus.server.sys";
  private static final String SERVER = "io.eventbus.server";
  private static final String CLI = "io.eventbus.cli";
  private static final String CLI_CONSOLE = "io.eventbus.cli.console";
  private static final String CLI_CONFIG = "io.eventbus.cli.config";
  private static final String CLI_CLIENT = "io.eventbus.cli.client";
  private static final String CLI_CLUSTER = "io.eventbus.cli.cluster";
  private static final String CLI_DEMO = "io.eventbus.cli.demo";
  private static final String CLI_PERMISSIONS = "io.eventbus.cli.permissions";
  private static final String BENCH = "io.eventbus.cli.bench";
  private static final String COMMANDS = "io.eventbus.cli..";

  private static final String NETTY = "io.netty..";
  private static final String NETTY_BUFFERS = "io.netty.buffer";
  private static final String NETTY_UTIL = "io.netty.util";
  private static final String NETTY_COLLECTIONS = "io.netty.util.collection";
  private static final String JACKSON = "com.fasterxml.jackson..";
  private static final String MICROMETER = "io.micrometer..";
  private static final String PROMETHEUS = "io.prometheus..";
  private static final String PICOCLI = "picocli..";

  /** Dependencies that every package may use. */
  private static final List<String> ALWAYS =
      List.of("java..", "javax.net.ssl", "org.jspecify.annotations", "org.slf4j");

  private static ArchRule row(String owner, String... mayUse) {
    List<String> allowed = new ArrayList<>(ALWAYS);
    allowed.add(owner);
    allowed.addAll(Arrays.asList(mayUse));
    return classes()
        .that()
        .resideInAPackage(owner)
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(allowed.toArray(new String[0]));
  }

  /**
   * Rule for the table of Netty, which walks over all numbers that share a place; clients choose
   * numbers.
   */
  @ArchTest
  static final ArchRule only_mixed_numbers_are_keys_of_netty =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName("io.eventbus.server.routing.NumberMap")
          .should()
          .dependOnClassesThat()
          .resideInAPackage(NETTY_COLLECTIONS);

  @ArchTest static final ArchRule config = row(CONFIG);

  @ArchTest static final ArchRule stats = row(STATS, PROTOCOL, SCHEMA);

  @ArchTest static final ArchRule log = row(LOG);

  @ArchTest static final ArchRule security = row(SECURITY, LOG, CONFIG, PROTOCOL);

  @ArchTest
  static final ArchRule security_jwt =
      row(SECURITY_JWT, SECURITY, LOG, CONFIG, "org.jose4j..", "javax.crypto..");

  @ArchTest
  static final ArchRule security_users =
      row(
          SECURITY_USERS,
          SECURITY,
          CONFIG,
          "com.password4j..",
          "javax.crypto..",
          "javax.naming..",
          "javax.security.auth.x500");

  @ArchTest
  static final ArchRule security_roles = row(SECURITY_ROLES, SECURITY, LOG, CONFIG, PROTOCOL);

  @ArchTest static final ArchRule advisory = row(ADVISORY);

  @ArchTest static final ArchRule quota = row(QUOTA, SECURITY, ADVISORY, LOG, CONFIG);

  @ArchTest static final ArchRule tls = row(TLS, ADVISORY, LOG, CONFIG, "javax.security.auth.x500");

  @ArchTest
  static final ArchRule admission =
      row(ADMISSION, LOG, STATS, CONFIG, NETTY_UTIL, "com.sun.management");

  @ArchTest
  static final ArchRule routing =
      row(ROUTING, STATS, CONFIG, PROTOCOL, SCHEMA, NETTY_BUFFERS, NETTY_UTIL, NETTY_COLLECTIONS);

  @ArchTest static final ArchRule call = row(CALL, TUNNEL, ROUTING, STATS, SCHEMA, NETTY_BUFFERS);

  @ArchTest static final ArchRule tunnel = row(TUNNEL, ROUTING, STATS, PROTOCOL, SCHEMA);

  @ArchTest static final ArchRule internal = row(INTERNAL, LINK, ROUTING, PROTOCOL);

  @ArchTest
  static final ArchRule session =
      row(
          SESSION,
          LINK,
          LOG,
          QUOTA,
          SECURITY,
          ADVISORY,
          CALL,
          TUNNEL,
          ROUTING,
          STATS,
          CONFIG,
          PROTOCOL,
          SCHEMA,
          NETTY_BUFFERS,
          "javax.crypto..");

  @ArchTest
  static final ArchRule queue =
      row(QUEUE, LINK, SESSION, QUOTA, ROUTING, STATS, CONFIG, PROTOCOL, SCHEMA, NETTY_BUFFERS);

  @ArchTest
  static final ArchRule cluster = row(CLUSTER, TLS, CONFIG, REGISTRY, LINK, "javax.crypto..");

  @ArchTest static final ArchRule decision = row(DECISION);

  @ArchTest
  static final ArchRule balance =
      row(
          BALANCE,
          DECISION,
          ADVISORY,
          SESSION,
          ROUTING,
          REGISTRY,
          "io.eventbus.link",
          CONFIG,
          PROTOCOL,
          SCHEMA);

  @ArchTest
  static final ArchRule websocket = row(WEBSOCKET, LOG, ROUTING, STATS, CONFIG, PROTOCOL, NETTY);

  @ArchTest
  static final ArchRule transport =
      row(
          TRANSPORT, WEBSOCKET, TLS, LINK, ADMISSION, ADVISORY, LOG, QUEUE, SESSION, QUOTA, CALL,
          ROUTING, STATS, CONFIG, PROTOCOL, SCHEMA, NETTY);

  @ArchTest
  static final ArchRule lane =
      row(LANE, ROUTING, STATS, CONFIG, PROTOCOL, SCHEMA, REGISTRY, LINK, NETTY);

  @ArchTest
  static final ArchRule tree = row(TREE, LANE, ROUTING, STATS, CONFIG, PROTOCOL, SCHEMA, NETTY);

  @ArchTest
  static final ArchRule interest =
      row(INTEREST, LANE, ROUTING, CONFIG, PROTOCOL, SCHEMA, REGISTRY, LINK);

  @ArchTest
  static final ArchRule far_calls =
      row(
          FAR_CALLS, LANE, INTEREST, CALL, ROUTING, STATS, CONFIG, PROTOCOL, SCHEMA, REGISTRY, LINK,
          NETTY);

  @ArchTest
  static final ArchRule federation =
      row(
          FEDERATION,
          LANE,
          TREE,
          INTEREST,
          FAR_CALLS,
          TRANSPORT,
          CALL,
          SESSION,
          ROUTING,
          STATS,
          CONFIG,
          REGISTRY,
          LINK,
          NETTY);

  @ArchTest
  static final ArchRule admin =
      row(
          ADMIN,
          BALANCE,
          FEDERATION,
          FAR_CALLS,
          CLUSTER,
          REGISTRY,
          SESSION,
          CALL,
          ROUTING,
          STATS,
          ADMISSION,
          ADVISORY,
          SECURITY,
          TLS,
          LOG,
          CONFIG,
          PROTOCOL,
          SCHEMA,
          NETTY,
          JACKSON,
          MICROMETER,
          PROMETHEUS);

  @ArchTest
  static final ArchRule sys =
      row(SYS, INTERNAL, ADVISORY, ADMIN, CALL, ROUTING, LOG, CONFIG, PROTOCOL, REGISTRY);

  /** Row of the package that puts all together; it asks Netty only how much memory there is. */
  @ArchTest
  static final ArchRule server =
      row(
          SERVER,
          SYS,
          INTERNAL,
          ADVISORY,
          ADMIN,
          BALANCE,
          DECISION,
          FEDERATION,
          CLUSTER,
          LINK,
          TRANSPORT,
          TLS,
          ADMISSION,
          LOG,
          QUOTA,
          SECURITY,
          SECURITY_JWT,
          SECURITY_USERS,
          SECURITY_ROLES,
          SESSION,
          CALL,
          TUNNEL,
          ROUTING,
          STATS,
          CONFIG,
          PROTOCOL,
          SCHEMA,
          REGISTRY,
          "io.eventbus.link",
          "io.netty.util.internal");

  @ArchTest
  static final ArchRule cli =
      row(
          CLI,
          CLI_CONSOLE,
          CLI_CONFIG,
          CLI_CLIENT,
          CLI_CLUSTER,
          CLI_DEMO,
          CLI_PERMISSIONS,
          SERVER,
          SECURITY_USERS,
          SYS,
          CONFIG,
          PICOCLI,
          JACKSON,
          "org.slf4j.bridge",
          "com.sun.management",
          "ch.qos.logback..");

  @ArchTest static final ArchRule cli_console = row(CLI_CONSOLE, CONFIG, CLIENT);

  @ArchTest
  static final ArchRule cli_config =
      row(CLI_CONFIG, CLI_CONSOLE, SERVER, CONFIG, SECURITY_ROLES, PICOCLI, JACKSON);

  @ArchTest
  static final ArchRule cli_permissions =
      row(
          CLI_PERMISSIONS,
          CLI_CONSOLE,
          CONFIG,
          SECURITY,
          SECURITY_ROLES,
          SECURITY_USERS,
          PROTOCOL,
          PICOCLI,
          JACKSON);

  @ArchTest
  static final ArchRule cli_client =
      row(CLI_CLIENT, CLI_CONSOLE, BENCH, CLIENT, PROTOCOL, PICOCLI, JACKSON);

  @ArchTest
  static final ArchRule cli_cluster =
      row(CLI_CLUSTER, CLI_CONSOLE, CLI_CONFIG, CLUSTER, REGISTRY, CONFIG, PICOCLI, JACKSON);

  @ArchTest
  static final ArchRule cli_demo =
      row(
          CLI_DEMO,
          CLI_CONSOLE,
          CLI_CLIENT,
          CLI_CLUSTER,
          CONFIG,
          CLIENT,
          "com.sun.net.httpserver",
          PICOCLI,
          JACKSON,
          "org.HdrHistogram");

  @ArchTest static final ArchRule bench = row(BENCH, CLIENT, "org.HdrHistogram");

  @ArchTest
  static final ArchRule no_cycles = slices().matching("io.eventbus.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule every_package_is_in_the_table =
      classes()
          .should()
          .resideInAnyPackage(
              CONFIG,
              STATS,
              LOG,
              QUOTA,
              SECURITY,
              SECURITY_JWT,
              SECURITY_USERS,
              SECURITY_ROLES,
              ADMISSION,
              ADVISORY,
              TLS,
              ROUTING,
              INTERNAL,
              CALL,
              TUNNEL,
              SESSION,
              QUEUE,
              TRANSPORT,
              WEBSOCKET,
              CLUSTER,
              BALANCE,
              DECISION,
              FEDERATION,
              LANE,
              TREE,
              INTEREST,
              FAR_CALLS,
              ADMIN,
              SYS,
              SERVER,
              CLI,
              CLI_CONSOLE,
              CLI_CONFIG,
              CLI_CLIENT,
              CLI_CLUSTER,
              CLI_DEMO,
              CLI_PERMISSIONS,
              BENCH);

  @ArchTest
  static final ArchRule only_what_has_sockets_uses_netty_beyond_its_buffers =
      noClasses()
          .that()
          .resideOutsideOfPackages(TRANSPORT, WEBSOCKET, FEDERATION, LANE, TREE, FAR_CALLS, ADMIN)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.netty.channel..",
              "io.netty.bootstrap..",
              "io.netty.handler..",
              "io.netty.resolver..");

  @ArchTest
  static final ArchRule only_administration_and_command_line_use_jackson_and_meters =
      noClasses()
          .that()
          .resideOutsideOfPackages(ADMIN, COMMANDS)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(JACKSON, MICROMETER, PROMETHEUS);

  @ArchTest
  static final ArchRule only_the_command_line_uses_picocli_and_the_client =
      noClasses()
          .that()
          .resideOutsideOfPackage(COMMANDS)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(PICOCLI, "io.eventbus.client..");

  @ArchTest
  static final ArchRule nobody_imports_the_server_but_the_command_line =
      noClasses()
          .that()
          .resideOutsideOfPackages(SERVER, COMMANDS)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(SERVER, COMMANDS);

  @ArchTest static final ArchRule no_static_state = fields().that().areStatic().should().beFinal();
}
