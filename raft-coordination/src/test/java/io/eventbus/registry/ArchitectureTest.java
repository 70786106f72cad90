package io.eventbus.registry;

import static com.tngtech.archunit.core.domain.JavaModifier.FINAL;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.UUID;

/** Holds this module's rows of the package table in {@code docs/architecture.md}. */
@AnalyzeClasses(packages = "io.eventbus", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String PORT = "io.eventbus.registry";
  private static final String STATE = "io.eventbus.registry.state..";
  private static final String LOCAL = "io.eventbus.registry.local..";
  private static final String MEMBER = "io.eventbus.registry.ratis";
  private static final String ADMIN = "io.eventbus.registry.ratis.admin..";
  private static final String JOIN = "io.eventbus.registry.ratis.join..";
  private static final String FORWARD = "io.eventbus.registry.ratis.forward..";
  private static final String DISK = "io.eventbus.registry.ratis.disk..";
  private static final String RAFT = "io.eventbus.raft";
  private static final String REPAIR = "io.eventbus.raft.repair..";
  private static final String MEMBERS = "io.eventbus.raft.members..";
  private static final String MEMBERSHIP = "io.eventbus.registry.membership..";
  private static final String LISTENERS = "io.eventbus.registry.listeners..";
  private static final String BASE = "io.eventbus.base";
  private static final String LINK = "io.eventbus.link..";
  private static final String RATIS = "org.apache.ratis..";
  private static final String NETTY = "io.netty..";
  private static final String CODEC = "io.eventbus.registry.codec..";
  private static final String SCHEMA = "io.eventbus.registry.schema..";
  private static final String AVRO = "org.apache.avro..";
  private static final String JDK = "java..";
  private static final String NULLNESS = "org.jspecify.annotations..";
  private static final String LOGGING = "org.slf4j..";

  @ArchTest
  static final ArchRule no_cycles = slices().matching("io.eventbus.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule every_package_is_in_the_table =
      classes()
          .should()
          .resideInAnyPackage(
              PORT,
              STATE,
              LOCAL,
              MEMBER,
              ADMIN,
              JOIN,
              FORWARD,
              DISK,
              RAFT,
              REPAIR,
              MEMBERS,
              CODEC,
              SCHEMA,
              LISTENERS,
              MEMBERSHIP,
              LINK,
              BASE);

  @ArchTest
  static final ArchRule the_base_uses_nothing_of_ours =
      classes()
          .that()
          .resideInAPackage(BASE)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(BASE, "io.netty.util.internal", JDK, NULLNESS, LOGGING);

  @ArchTest
  static final ArchRule the_port_uses_the_jdk_only =
      classes()
          .that()
          .resideInAPackage(PORT)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(PORT, JDK, NULLNESS);

  @ArchTest
  static final ArchRule the_state_machine_uses_the_port =
      classes()
          .that()
          .resideInAPackage(STATE)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(STATE, PORT, JDK, NULLNESS);

  @ArchTest
  static final ArchRule the_local_registry_uses_port_state_machine_and_codec =
      classes()
          .that()
          .resideInAPackage(LOCAL)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(LOCAL, LISTENERS, CODEC, STATE, PORT, JDK, NULLNESS, LOGGING);

  @ArchTest
  static final ArchRule the_codec_uses_port_state_machine_and_avro =
      classes()
          .that()
          .resideInAPackage(CODEC)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(CODEC, SCHEMA, AVRO, STATE, PORT, JDK, NULLNESS);

  @ArchTest
  static final ArchRule membership_uses_the_port_only =
      classes()
          .that()
          .resideInAPackage(MEMBERSHIP)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(MEMBERSHIP, PORT, JDK, NULLNESS, LOGGING);

  @ArchTest
  static final ArchRule links_know_nothing_of_the_registry =
      classes()
          .that()
          .resideInAPackage(LINK)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              LINK, BASE, NETTY, JDK, "javax.crypto..", "javax.net.ssl..", NULLNESS, LOGGING);

  @ArchTest
  static final ArchRule members_of_a_group_use_ratis =
      classes()
          .that()
          .resideInAPackage(MEMBERS)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(MEMBERS, RATIS, JDK, NULLNESS, LOGGING);

  @ArchTest
  static final ArchRule repairs_know_links_and_members_only =
      classes()
          .that()
          .resideInAPackage(REPAIR)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(REPAIR, MEMBERS, LINK, RATIS, JDK, NULLNESS, LOGGING);

  @ArchTest
  static final ArchRule raft_knows_nothing_of_the_registry =
      classes()
          .that()
          .resideInAPackage(RAFT)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(RAFT, REPAIR, MEMBERS, LINK, RATIS, JDK, NULLNESS, LOGGING);

  @ArchTest
  static final ArchRule what_is_on_the_disk_uses_raft_state_and_codec =
      classes()
          .that()
          .resideInAPackage(DISK)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              DISK, RAFT, REPAIR, CODEC, STATE, PORT, RATIS, JDK, NULLNESS, LOGGING);

  @ArchTest
  static final ArchRule forwarding_uses_raft_links_and_codec =
      classes()
          .that()
          .resideInAPackage(FORWARD)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              FORWARD, BASE, RAFT, MEMBERS, LINK, CODEC, STATE, PORT, RATIS, JDK, NULLNESS,
              LOGGING);

  @ArchTest
  static final ArchRule joining_uses_forwarding_and_the_disk =
      classes()
          .that()
          .resideInAPackage(JOIN)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              JOIN, FORWARD, DISK, BASE, RAFT, REPAIR, MEMBERS, LINK, PORT, RATIS, JDK, NULLNESS,
              LOGGING);

  @ArchTest
  static final ArchRule administration_uses_forwarding =
      classes()
          .that()
          .resideInAPackage(ADMIN)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              ADMIN,
              FORWARD,
              RAFT,
              REPAIR,
              MEMBERS,
              LINK,
              MEMBERSHIP,
              CODEC,
              STATE,
              PORT,
              RATIS,
              JDK,
              NULLNESS,
              LOGGING);

  @ArchTest
  static final ArchRule the_registry_of_a_cluster_uses_all_but_netty =
      classes()
          .that()
          .resideInAPackage(MEMBER)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              MEMBER,
              ADMIN,
              JOIN,
              FORWARD,
              DISK,
              RAFT,
              REPAIR,
              MEMBERS,
              LINK,
              LISTENERS,
              MEMBERSHIP,
              CODEC,
              STATE,
              PORT,
              RATIS,
              JDK,
              NULLNESS,
              LOGGING);

  @ArchTest
  static final ArchRule only_the_codec_uses_avro =
      noClasses()
          .that()
          .resideOutsideOfPackages(CODEC, SCHEMA)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(AVRO, SCHEMA);

  @ArchTest
  static final ArchRule the_state_machine_knows_no_time_no_io_and_no_threads =
      noClasses()
          .that()
          .resideInAPackage(STATE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "java.io..",
              "java.net..",
              "java.nio..",
              "java.security..",
              "java.time..",
              "java.util.concurrent..",
              "java.util.random..");

  @ArchTest
  static final ArchRule the_state_machine_asks_neither_the_system_nor_chance =
      noClasses()
          .that()
          .resideInAPackage(STATE)
          .should()
          .dependOnClassesThat()
          .belongToAnyOf(
              System.class,
              Runtime.class,
              Thread.class,
              java.util.Random.class,
              java.util.Date.class,
              java.util.Locale.class,
              UUID.class)
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .callMethod(CommandId.class, "random", long.class);

  @ArchTest
  static final ArchRule only_raft_and_the_registry_on_it_use_ratis =
      noClasses()
          .that()
          .resideOutsideOfPackages(RAFT, REPAIR, MEMBERS, MEMBER, ADMIN, JOIN, FORWARD, DISK)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(RATIS);

  @ArchTest
  static final ArchRule no_static_state =
      fields()
          .that()
          .areStatic()
          .and()
          .areDeclaredInClassesThat()
          .resideOutsideOfPackage(SCHEMA)
          .should()
          .beFinal();

  @ArchTest
  static final ArchRule values_of_the_port_are_immutable =
      fields()
          .that()
          .areDeclaredInClassesThat()
          .resideInAPackage(PORT)
          .or()
          .areDeclaredInClassesThat()
          .resideInAPackage(STATE)
          .should()
          .haveModifier(FINAL);
}
